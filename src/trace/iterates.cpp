// SPDX-License-Identifier: BSD-2-Clause
#include "trace/iterates.hpp"

#include <algorithm>
#include <mutex>

#include "hdf5/data_sets.hpp"
#include "hdf5/libraries.hpp"

namespace quorate::trace {

namespace {

constexpr const char* remedy = "if it is being written, try again";

}  // namespace

Iterates::Iterates(const std::string& path) : path_(path)
{
    const std::lock_guard lock(libraries());
    file_ = h5::open(path);
    h5::reading(path, remedy, [&] {
        const auto rounds = h5::read<std::int64_t>(file_.get(), "iterate/round");
        // If the run was killed, there may be fewer models than rounds.
        const auto models = h5::rows_of(file_.get(), "iterate/model");
        for (std::int64_t i = 0; i < std::min<std::int64_t>(std::ssize(rounds), models); ++i)
            rows_[rounds[static_cast<std::size_t>(i)]] = i;
    });
}

std::vector<double> Iterates::at(std::int64_t round) const
{
    const std::lock_guard lock(libraries());
    const auto row = rows_.at(round);
    return h5::reading(path_, remedy,
                       [&] { return h5::read_rows<double>(file_.get(), "iterate/model", row, 1); });
}

}  // namespace quorate::trace
