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

std::vector<std::int64_t> iterate_rounds(hid_t file)
{
    auto rounds = h5::read<std::int64_t>(file, "iterate/round");
    const auto models = h5::rows_of(file, "iterate/model");
    rounds.resize(static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(rounds), models)));
    return rounds;
}

std::vector<double> read_iterate(hid_t file, std::int64_t i)
{
    return h5::read_rows<double>(file, "iterate/model", i, 1);
}

Iterates::Iterates(const std::string& path) : path_(path)
{
    const std::lock_guard lock(libraries());
    file_ = h5::open(path);
    h5::reading(path, remedy, [&] {
        std::int64_t row = 0;
        for (const auto round : iterate_rounds(file_.get())) rows_[round] = row++;
    });
}

std::vector<double> Iterates::at(std::int64_t round) const
{
    const std::lock_guard lock(libraries());
    const auto row = rows_.at(round);
    return h5::reading(path_, remedy, [&] { return read_iterate(file_.get(), row); });
}

}  // namespace quorate::trace
