// SPDX-License-Identifier: BSD-2-Clause
#include "trace/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"

namespace quorate::trace {

Trace read(const std::string& path)
{
    const std::lock_guard lock(libraries());
    const auto file = h5::open(path);
    if (h5::find_string(file.get(), "format") != "quorate trace")
        throw BadInput(path + " is not a trace: give one that 'quorate run' wrote");
    const auto version = h5::read_integer(file.get(), "format_version");
    if (version < oldest_format_version || version > format_version)
        throw BadInput(
            fmt::format("{} has trace format {}, this program reads formats {} to {}: use the "
                        "Quorate that wrote it",
                        path, version, oldest_format_version, format_version));
    try {
        Trace trace;
        trace.attributes = h5::attributes_as_text(file.get());
        const auto fill = [&](auto& rows) {
            rows =
                read_table<typename std::decay_t<decltype(rows)>::value_type>(file.get(), version);
        };
        std::apply([&](auto&... table) { (fill(table), ...); }, trace.tables());
        // Before a contribution could outlive a step.
        if (version < 6)
            for (auto& arrival : trace.arrivals) arrival.uses = arrival.used != 0;
        // Models are scored during the run, after it or by `quorate evaluate`, so the rows are in
        // no fixed order.
        std::ranges::stable_sort(trace.evaluations, {}, &Evaluation::round);
        trace.iterates = h5::shape(file.get(), "iterate/round").at(0);
        return trace;
    } catch (const Failure& damaged) {
        throw BadInput(fmt::format("{} is a damaged trace ({}); if it is being written, try again",
                                   path, damaged.what()));
    }
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
