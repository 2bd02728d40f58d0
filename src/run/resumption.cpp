// SPDX-License-Identifier: BSD-2-Clause
#include "run/resumption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <tuple>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/owner.hpp"
#include "base/path.hpp"
#include "hdf5/attributes.hpp"
#include "hdf5/journal.hpp"
#include "parts/components.hpp"
#include "parts/plugins.hpp"
#include "run/output.hpp"
#include "run/recorded.hpp"
#include "run/same_data.hpp"
#include "trace/run_state.hpp"
#include "transport/clock.hpp"

namespace quorate {

std::string configuration(const Settings& settings, bool dry)
{
    auto used = without_unused_options(settings);
    if (dry)
        for (const auto* name : options_of_data) used.set(name, {});
    return used.ini();
}

namespace {

// Cuts a trace to what it was when the checkpoint was made, and adds the contributions that were
// still in use then, which the checkpoint holds. @throws BadInput if it is shorter
void cut(trace::Trace& trace, const Snapshot& snapshot)
{
    trace.for_each([&](auto& rows) {
        const auto* table = trace::RowOf<decltype(rows)>::table;
        const auto count = static_cast<std::size_t>(trace::rows_at(snapshot.position, table));
        if (rows.size() < count)
            throw BadInput(
                fmt::format("table {} of the trace is shorter than its checkpoint says: the "
                            "two do not belong together; begin anew without --resume",
                            table));
        rows.resize(count);
    });
    trace.arrivals.insert(trace.arrivals.end(), snapshot.arrivals.begin(), snapshot.arrivals.end());
    trace.items.insert(trace.items.end(), snapshot.items.begin(), snapshot.items.end());
}

// Checks the options of checkpoints, and that the checkpoint can be written. @throws BadInput
void check_checkpoint(const Settings& settings, const Training& training)
{
    if (!settings.on("checkpoint")) return;
    if (!training.data)
        settings.refuse("checkpoint", ", but a dry run takes no time worth keeping: leave it out");
    if (training.engine.arrivals != Arrivals::all)
        settings.refuse("checkpoint",
                        ", but a run goes on from its trace, which must list all "
                        "contributions: leave out --trace-arrivals");
    // With --resume the kind of the file is not checked here, because a damaged checkpoint would be
    // taken for a file of another kind. read_checkpoint() may take the one before instead.
    const auto &path = settings.text("checkpoint"), &trace = settings.text("trace");
    std::error_code error;
    for (const auto& one : {path, older(path)})
        for (const auto& other : {trace, h5::journal_of(trace), owner_record_of(trace)})
            if (std::filesystem::weakly_canonical(one, error) ==
                std::filesystem::weakly_canonical(other, error))
                settings.refuse(
                    "checkpoint",
                    fmt::format(", so it or the one before it, {}, would take the place of "
                                "what --trace {} writes: give another name",
                                older(path), trace));
    if (settings.on("resume"))
        check_writable(path, "checkpoint");
    else
        check_output(settings, "checkpoint", "checkpoint");
    if (!settings.on("resume") && std::filesystem::exists(older(path), error) &&
        !is_a("checkpoint", older(path)))
        settings.refuse("checkpoint",
                        fmt::format(", but {}, the one before it, is no checkpoint: remove that or "
                                    "give another name",
                                    older(path)));
    interval_of(settings);
}

// Returns the checkpoint of the run whose trace this is; empty if there is no trace, or no
// checkpoint where that run wrote it.
std::string checkpoint_of(const std::string& trace)
{
    std::error_code error;
    if (!std::filesystem::exists(trace, error) || std::filesystem::is_empty(trace, error))
        return "";
    const auto file = h5::open(trace);
    const auto config = h5::reading(trace, "remove it, or give another name",
                                    [&] { return h5::read_string(file.get(), "config"); });
    const auto checkpoint = recorded_options(config)["checkpoint"];
    return !checkpoint.empty() && has_checkpoint(checkpoint) ? checkpoint : "";
}

// Refuses to replace results that took time to compute, unless --overwrite says so: a checkpoint, a
// complete trace, or the trace of a run that could go on. @throws BadInput
void refuse_to_replace(const Settings& settings)
{
    if (settings.on("overwrite")) return;
    const auto& path = settings.text("trace");
    if (settings.on("checkpoint") && has_checkpoint(settings.text("checkpoint")))
        settings.refuse("checkpoint",
                        ", from which a run can go on: add --resume, or --overwrite to begin anew");
    if (state_of_trace(path) == RunState::complete)
        settings.refuse(
            "trace",
            ", which holds a complete run: give another name, or --overwrite to replace it");
    if (const auto checkpoint = checkpoint_of(path); !checkpoint.empty())
        settings.refuse("trace", fmt::format(", whose run can go on from {}: add --checkpoint {} "
                                             "--resume, or --overwrite to begin anew",
                                             checkpoint, checkpoint));
}

// Whether --trace holds this run, and it is complete.
// @throws BadInput if it holds another run that is complete
bool is_complete(const Settings& settings, const Training& training)
{
    const auto& path = settings.text("trace");
    if (state_of_trace(path) != RunState::complete) return false;
    const auto file = h5::open(path);
    h5::reading(path, "begin anew without --resume, or with another --trace", [&] {
        check_same_run(path, "trace", h5::read_string(file.get(), "config"),
                       configuration(settings, !training.data));
        const auto read = [&](const char* name) { return h5::read_integer(file.get(), name); };
        const auto began = trace::first_workers(trace::read_table<trace::Membership>(file.get()));
        const std::tuple<const char*, std::int64_t, std::int64_t> sizes[] = {
            {"workers", began, training.workers},
            {"rows", read("rows"), training.rows},
            {"columns", read("columns"), training.columns}};
        for (const auto& [name, theirs, ours] : sizes)
            if (theirs != ours)
                throw BadInput(
                    fmt::format("{} is of a run with {} {}, this one has {}: give the data and "
                                "workers of that run, or another --trace",
                                path, theirs, name, ours));
    });
    if (training.data)
        check_same_data(*training.data, h5::find_string(file.get(), data_attribute), path,
                        "give the data of that run, or another --trace");
    return true;
}

// The workers of a run at the end of a trace.
struct Members {
    std::vector<bool> active;       // by worker
    std::vector<Worker> coded_for;  // who was there when the code was made

    std::vector<Worker> all(bool wanted) const
    {
        std::vector<Worker> some;
        for (std::size_t i = 0; i < active.size(); ++i)
            if (active[i] == wanted) some.push_back(static_cast<Worker>(i));
        return some;
    }
};

Members members_of(const trace::Trace& trace)
{
    using enum trace::Change;
    Members members{std::vector<bool>(trace.workers.size()), {}};
    for (const auto& row : trace.membership) {
        const auto kind = static_cast<trace::Change>(row.kind);
        const auto worker = static_cast<std::size_t>(row.worker);
        if (kind == joined || kind == left || kind == died)
            members.active.at(worker) = kind == joined;
        if (row.event == 0 || kind == reencoded) members.coded_for = members.all(true);
    }
    return members;
}

// Returns the workers with which a run goes on if so many are there.
std::vector<Worker> places(const Members& members, int many)
{
    auto all = members.all(true);
    for (const auto gone : members.all(false)) all.push_back(gone);
    while (std::ssize(all) < many) all.push_back(static_cast<Worker>(all.size()));
    all.resize(static_cast<std::size_t>(many));
    std::ranges::sort(all);
    return all;
}

// Whether a trace has all that was in it at this position.
bool reaches(const trace::Trace& trace, const trace::Position& position)
{
    bool all = trace.iterates >= trace::rows_at(position, "iterate");
    trace.for_each([&](const auto& rows) {
        all = all &&
              std::ssize(rows) >= trace::rows_at(position, trace::RowOf<decltype(rows)>::table);
    });
    return all;
}

// The newest state in memory that is newer than the checkpoint and that the trace reaches. A dead
// coordinator has not written what came after its last commit.
std::optional<Checkpoint> newer_state(const NextState& next,
                                      const std::optional<Checkpoint>& checkpoint,
                                      const std::string& path)
{
    if (!next) return std::nullopt;
    std::optional<trace::Trace> trace;
    while (auto state = next()) {
        if (checkpoint && state->snapshot.round <= checkpoint->snapshot.round) break;
        if (!trace) trace = trace::read(path);
        if (reaches(*trace, state->snapshot.position)) return state;
    }
    return std::nullopt;
}

// Refuses to go on if the scheme cannot be made for any of so many workers. @throws BadInput
void check_code(const Training& training, const std::string& path, const Resumption& resumption)
{
    std::string why;
    for (int some = training.here; some > 0; --some) {
        try {
            training.engine.reencode(some);
            return;
        } catch (const BadInput& none) {
            if (why.empty()) why = none.what();
        }
    }
    throw BadInput(
        fmt::format("{} cannot go on with {} workers, as there is no code for so few ({}): start "
                    "ranks for more, "
                    "as for the {} that it had",
                    path, training.here, why, members_of(resumption.trace).all(true).size()));
}

}  // namespace

std::optional<int> began_with(const std::string& trace, const std::string& checkpoint,
                              bool in_memory)
{
    if (!in_memory && !has_checkpoint(checkpoint) && state_of_trace(trace) != RunState::complete)
        return {};
    try {
        const auto file = h5::open(trace);
        const auto began = trace::first_workers(trace::read_table<trace::Membership>(file.get()));
        if (began > 0) return static_cast<int>(began);
    } catch (const std::exception&) {
        // What is wrong with the files is said when they are checked.
    }
    return {};
}

std::vector<double> slice_of(const StoredVector& whole, std::size_t elements,
                             const std::optional<ShareRange>& share)
{
    return whole.read(whole.size == elements ? 0 : share.value().first, elements);
}

Seconds Resumption::begins() const
{
    if (loss) return std::max(time, loss->time) + clock_seconds() - loss->seen;
    return trace.rounds.empty() ? 0 : trace.rounds.back().time;
}

Past Resumption::past(const std::optional<ShareRange>& share) const
{
    const auto& last = checkpoint.snapshot.last_estimate;
    const bool all = !share || last.size() <= share->second;
    const auto own = all ? std::span(last) : std::span(last).subspan(share->first, share->second);
    Past past{.event = checkpoint.snapshot.event,
              .ended = begins(),
              .begun = loss ? checkpoint.snapshot.round + rounds + 1 : 0,
              .points = {},
              .last_estimate = {own.begin(), own.end()},
              .resets = {},
              .inner = {},
              .measures = {}};
    for (const auto& [version, point] : checkpoint.points)
        past.points[version] = slice_of(point, share ? share->second : point.size, share);
    for (const auto& round : trace.rounds) past.inner.push_back(round.inner);
    for (const auto& measure : trace.measures)
        past.measures[{measure.event, measure.part}] = measure;
    for (const auto& row : trace.membership)
        if (row.kind == static_cast<std::int64_t>(trace::Change::reset))
            past.resets.insert(row.event);
    return past;
}

std::optional<Resumption> resumption(const Settings& settings, const Training& training,
                                     std::unique_ptr<Owner>& owner, const NextState& next)
{
    const auto& path = settings.text("trace");
    check_output(settings, "trace", "trace");
    check_checkpoint(settings, training);
    owner = std::make_unique<Owner>(path);
    if (!settings.on("resume")) {
        refuse_to_replace(settings);
        return std::nullopt;
    }
    if (settings.on("overwrite"))
        throw BadInput("--resume goes on and --overwrite begins anew: leave out one of the two");
    h5::reading(path, "begin anew without --resume",
                [&] { h5::put_journal_in_place(path, {.owner = owner.get()}); });
    if (is_complete(settings, training)) {
        say(fmt::format("{}: the run is complete\n", path));
        Resumption none;
        none.completed = true;
        return none;
    }
    if (!training.data) return std::nullopt;
    if (!settings.on("checkpoint"))
        throw BadInput("--resume needs --checkpoint FILE, from which the run is to go on");
    auto checkpoint = read_checkpoint(settings, training, configuration(settings, false));
    if (auto newer = newer_state(next, checkpoint, path)) checkpoint = std::move(newer);
    if (!checkpoint) {
        refuse_to_replace(settings);
        log(LogLevel::note,
            fmt::format("there is no {} yet: the run begins", settings.text("checkpoint")));
        return std::nullopt;
    }
    Resumption resumption{std::move(*checkpoint), trace::read(path)};
    check_same_plugins(path, resumption.trace.text("plugins"));
    if (const auto events = resumption.trace.text(events_attribute);
        !events.empty() && events != digest_of_events(settings))
        settings.refuse("events",
                        ", which holds other events than when the run began: put the "
                        "file back, or begin anew without --resume");
    const auto written = std::ssize(resumption.trace.rounds);
    if (written > 0) resumption.time = resumption.trace.rounds.back().time;
    cut(resumption.trace, resumption.checkpoint.snapshot);
    resumption.rounds = written - std::ssize(resumption.trace.rounds);
    h5::reading(path, "begin anew without --resume", [&] { trace::check_sense(resumption.trace); });
    if (const auto began = resumption.trace.first_workers(); began != training.workers)
        throw BadInput(
            fmt::format("{} is of a run with {} workers, these are {}: give as many, and "
                        "--events for those that leave or join",
                        resumption.checkpoint.path, began, training.workers));
    const auto members = members_of(resumption.trace);
    resumption.here = places(members, training.here);
    if (resumption.here != members.coded_for)
        check_code(training, resumption.checkpoint.path, resumption);
    log(LogLevel::note,
        fmt::format("going on after round {} of {}, from {}", resumption.checkpoint.snapshot.round,
                    training.engine.rounds, resumption.checkpoint.path));
    return resumption;
}

}  // namespace quorate
