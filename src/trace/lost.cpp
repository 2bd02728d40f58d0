// SPDX-License-Identifier: BSD-2-Clause
#include "trace/lost.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hdf5/attributes.hpp"
#include "trace/table.hpp"

namespace quorate::trace {

namespace {

std::string name_of(std::size_t time) { return fmt::format("lost/{}", time); }

}  // namespace

void keep_lost(hid_t file, const Position& position, const std::string& why)
{
    const auto kept = rows_at(position, Round::table);
    const auto times = h5::read<double>(file, "round/time", 0, h5::rows_of(file, "round/time"));
    if (std::ssize(times) <= kept) return;
    if (!h5::has(file, "lost")) h5::create_group(file, "lost");
    std::size_t time = 0;
    while (h5::has(file, name_of(time))) ++time;
    const auto group = h5::create_group(file, name_of(time));
    const double begins = kept > 0 ? times[static_cast<std::size_t>(kept) - 1] : 0;
    h5::write_attribute(group.get(), "first_round", kept + 1);
    h5::write_attribute(group.get(), "last_round", std::ssize(times));
    h5::write_attribute(group.get(), "seconds", times.back() - begins);
    h5::write_attribute(group.get(), "why", why);
    Tables().for_each([&](const auto& none) {
        using Kind = RowOf<decltype(none)>;
        const auto rows = read_table<Kind>(file, rows_at(position, Kind::table));
        if (rows.empty()) return;
        auto table = Table::create<Kind>(group.get());
        table.append(rows);
    });
}

std::vector<Lost> read_lost(hid_t file)
{
    std::vector<Lost> all;
    while (h5::has(file, name_of(all.size()))) {
        const auto name = name_of(all.size());
        const auto group = h5::open_group(file, name);
        Lost one{.first = h5::read_integer(group.get(), "first_round"),
                 .last = h5::read_integer(group.get(), "last_round"),
                 .seconds = h5::read_double(group.get(), "seconds"),
                 .why = h5::read_string(group.get(), "why"),
                 .rounds = read_table<Round>(group.get())};
        if (one.first < 1 || one.last < one.first ||
            one.last - one.first + 1 != std::ssize(one.rounds) || !std::isfinite(one.seconds))
            throw Failure(name + " makes no sense");
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace quorate::trace
