// SPDX-License-Identifier: BSD-2-Clause
#include "trace/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "trace/lost.hpp"

namespace quorate::trace {

namespace {

// Throws Failure unless the attributes that readers rely on are there, and are text or numbers as
// in each trace.
void check_attributes(hid_t file)
{
    for (const auto* name : {"status", "config", "quorate_version", "clock", "data", "scheme",
                             "model", "optimizer", "delay"})
        h5::read_string(file, name);
    for (const auto* name : {"l2", "l1"}) h5::read_double(file, name);
    for (const auto* name : {"seed", "workers", "rows", "test_rows", "columns", "rounds"})
        if (h5::read_integer(file, name) < 0)
            throw Failure(fmt::format("attribute {} is negative", name));
}

// Throws Failure if a row of a table has numbers that no run writes, and that readers would take
// for places in their own tables.
template <class Row>
void check_sense(const std::vector<Row>& rows, const auto& makes_sense)
{
    const auto wrong = std::ranges::find_if_not(rows, makes_sense);
    if (wrong != rows.end())
        throw Failure(fmt::format("row {} of {} makes no sense", wrong - rows.begin(), Row::table));
}

}  // namespace

void check_sense(const Trace& trace)
{
    const auto workers = std::ssize(trace.workers);
    check_sense(trace.rounds, [](const Round& one) {
        return std::isfinite(one.time) && std::isfinite(one.wait) &&
               std::min({one.used, one.erased, one.samples}) >= 0;
    });
    check_sense(trace.arrivals, [&](const Arrival& one) {
        const auto seconds = {one.sent, one.arrived, one.compute, one.delay, one.idle, one.send};
        return 0 <= one.worker && one.worker < workers &&
               std::ranges::all_of(seconds, [](double at) { return std::isfinite(at); }) &&
               std::min({one.event, one.round, one.task, one.part, one.samples, one.bytes, one.used,
                         one.uses}) >= 0;
    });
    check_sense(trace.items, [](const ItemRow& one) {
        return std::min({one.event, one.part, one.item}) >= 0;
    });
    check_sense(trace.measures,
                [](const Measure& one) { return std::min(one.event, one.part) >= 0; });
    check_sense(trace.weights, [](const Weight& one) {
        return one.round >= 1 && std::min(one.event, one.part) >= 0 && std::isfinite(one.weight);
    });
    check_sense(trace.timers, [](const Timer& one) { return one.event >= 0; });
    check_sense(trace.membership, [&](const Membership& one) {
        const bool names_worker = one.kind != static_cast<std::int64_t>(Change::reencoded) &&
                                  one.kind != static_cast<std::int64_t>(Change::resumed);
        return one.event >= 0 && std::isfinite(one.time) && one.worker >= -1 &&
               (!names_worker || one.worker < workers);
    });
    check_sense(trace.evaluations, [](const Evaluation& one) { return one.round >= 0; });
}

Trace read(const std::string& path)
{
    const std::lock_guard lock(libraries());
    const auto file = h5::open(path);
    return h5::reading(path, "if it is being written, try again", [&] {
        if (h5::find_string(file.get(), "format") != "quorate trace")
            throw BadInput(path + " is not a trace: give one that 'quorate run' wrote");
        if (const auto version = h5::read_integer(file.get(), "format_version");
            version != format_version)
            throw BadInput(
                fmt::format("{} has trace format {}, this program reads format {}: use the "
                            "Quorate that wrote it",
                            path, version, format_version));
        check_attributes(file.get());
        Trace trace;
        trace.attributes = h5::attributes_as_text(file.get());
        trace.for_each([&](auto& rows) { rows = read_table<RowOf<decltype(rows)>>(file.get()); });
        check_sense(trace);
        // Models are scored during the run, after it or by `quorate evaluate`, so the rows are in
        // no fixed order.
        std::ranges::stable_sort(trace.evaluations, {}, &Evaluation::round);
        trace.iterates = h5::rows_of(file.get(), "iterate/round");
        trace.lost = read_lost(file.get());
        return trace;
    });
}

std::vector<std::string> faults(const Trace& trace)
{
    std::vector<std::string> wrong;
    const auto workers = static_cast<std::int64_t>(trace.workers.size());
    const auto first = trace.membership.empty() ? workers : trace.first_workers();
    auto known = first;  // workers that the run has had so far: a resumption may add some
    double before = 0;
    for (std::size_t i = 0; i < trace.rounds.size(); ++i) {
        const auto& round = trace.rounds[i];
        if (round.time < before)
            wrong.push_back(fmt::format("round {} ends before the one before it", i + 1));
        before = round.time;
        const auto total = round.used + round.erased;
        if (workers > 0 && (total < known || total > workers))
            wrong.push_back(fmt::format("round {}: {} used and {} erased are not {} workers", i + 1,
                                        round.used, round.erased, known));
        else
            known = std::max(known, total);
    }
    // Of each round, the workers whose contributions it was the first to use.
    std::vector<std::set<std::int64_t>> used(trace.rounds.size());
    std::int64_t uses = 0;  // most steps that have used a contribution
    for (const auto& arrival : trace.arrivals) {
        if (arrival.used >= 1 && arrival.used <= static_cast<std::int64_t>(used.size()))
            used[static_cast<std::size_t>(arrival.used - 1)].insert(arrival.worker);
        if (arrival.used != 0 && arrival.used < arrival.round)
            wrong.push_back(fmt::format("event {}: used before it came", arrival.event));
        if (arrival.uses > 1 && arrival.used + arrival.uses - 1 > std::ssize(trace.rounds))
            wrong.push_back(fmt::format("event {}: {} rounds have used it, the first is {} of {}",
                                        arrival.event, arrival.uses, arrival.used,
                                        trace.rounds.size()));
        uses = std::max(uses, arrival.uses);
        const auto [least, most] =
            std::minmax({arrival.compute, arrival.delay, arrival.idle, arrival.send});
        if (least < 0 || arrival.arrived < arrival.sent)
            wrong.push_back(fmt::format("event {}: a duration is negative", arrival.event));
        // Durations are measured by the worker's host, whose clock may run a little faster.
        if (most > 1.001 * arrival.arrived + 1e-3)
            wrong.push_back(
                fmt::format("event {}: a duration of {:.6g} s, {:.6g} s after the run "
                            "began",
                            arrival.event, most, arrival.arrived));
    }
    if (trace.status() != "completed") return wrong;
    for (std::size_t i = 0; i < used.size() && trace.listed() != "none"; ++i)
        if (const auto marked = std::ssize(used[i]);
            uses <= 1 ? marked != trace.rounds[i].used : marked > trace.rounds[i].used)
            wrong.push_back(
                fmt::format("round {}: arrivals of {} workers are marked used, the round says {}",
                            i + 1, used[i].size(), trace.rounds[i].used));
    if (trace.text("stopped_at").empty() &&
        trace.attributes.at("rounds") != std::to_string(trace.rounds.size()))
        wrong.push_back(fmt::format("completed with {} of {} rounds", trace.rounds.size(),
                                    trace.attributes.at("rounds")));
    return wrong;
}

}  // namespace quorate::trace
