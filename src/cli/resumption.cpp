// SPDX-License-Identifier: BSD-2-Clause
#include "cli/resumption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/path.hpp"
#include "cli/components.hpp"
#include "cli/output.hpp"

namespace quorate {

std::string configuration(const Settings& settings, bool dry)
{
    auto used = without_unused_options(settings);
    if (dry)
        for (const auto* name : options_of_data) used.set(name, {});
    return used.ini();
}

namespace {

template <class Row>
void cut(std::vector<Row>& rows, const trace::Position& position)
{
    const auto at = position.find(Row::table);
    const auto count = static_cast<std::size_t>(at == position.end() ? 0 : at->second);
    if (rows.size() < count)
        throw BadInput(
            fmt::format("table {} of the trace is shorter than its checkpoint says: the "
                        "two do not belong together; begin anew without --resume",
                        Row::table));
    rows.resize(count);
}

// The trace as it was when the checkpoint was made, with the contributions that were in use then.
void cut(trace::Trace& trace, const Snapshot& snapshot)
{
    cut(trace.rounds, snapshot.position);
    cut(trace.arrivals, snapshot.position);
    cut(trace.items, snapshot.position);
    cut(trace.measures, snapshot.position);
    cut(trace.timers, snapshot.position);
    cut(trace.membership, snapshot.position);
    cut(trace.evaluations, snapshot.position);
    trace.arrivals.insert(trace.arrivals.end(), snapshot.arrivals.begin(), snapshot.arrivals.end());
    trace.items.insert(trace.items.end(), snapshot.items.begin(), snapshot.items.end());
}

}  // namespace

Past Resumption::past() const
{
    Past past{.event = checkpoint.snapshot.event,
              .points = checkpoint.points,
              .last_estimate = checkpoint.snapshot.last_estimate,
              .inner = {},
              .measures = {}};
    for (const auto& round : trace.rounds) past.inner.push_back(round.inner);
    for (const auto& measure : trace.measures)
        past.measures[{measure.event, measure.part}] = measure;
    return past;
}

std::optional<Resumption> resumption(const Settings& settings, const Training& training)
{
    if (settings.on("checkpoint") && !training.data)
        settings.refuse("checkpoint", ", but a dry run takes no time worth keeping: leave it out");
    if (settings.on("checkpoint") && training.engine.arrivals != Arrivals::all)
        settings.refuse("checkpoint",
                        ", but a run goes on from its trace, which must list all "
                        "contributions: leave out --trace-arrivals");
    if (settings.on("checkpoint")) {
        // A damaged one is not taken for a file of another kind.
        if (settings.on("resume"))
            check_writable(settings.text("checkpoint"), "checkpoint");
        else
            check_output(settings, "checkpoint", "checkpoint");
        interval_of(settings);
    }
    if (!settings.on("resume")) return std::nullopt;
    if (!settings.on("checkpoint"))
        throw BadInput("--resume needs --checkpoint FILE, from which the run is to go on");
    auto checkpoint = read_checkpoint(settings, training, configuration(settings, false));
    const auto& path = settings.text("trace");
    if (!checkpoint) {
        if (!settings.on("quiet"))
            fmt::print(stderr, "quorate: there is no {} yet: the run begins\n",
                       settings.text("checkpoint"));
        return std::nullopt;
    }
    Resumption resumption{std::move(*checkpoint), trace::read(path), false};
    resumption.completed = resumption.trace.status() == "completed";
    cut(resumption.trace, resumption.checkpoint.snapshot);
    if (resumption.completed)
        fmt::print("{}: all {} rounds are done\n", path, training.engine.rounds);
    else if (!settings.on("quiet"))
        fmt::print(stderr, "quorate: going on after round {} of {}\n",
                   resumption.checkpoint.snapshot.round, training.engine.rounds);
    return resumption;
}

}  // namespace quorate
