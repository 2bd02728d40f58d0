// SPDX-License-Identifier: BSD-2-Clause
#include "commands/traced_run.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/streams.hpp"
#include "base/text.hpp"
#include "commands/progress.hpp"
#include "commands/run_folder.hpp"
#include "commands/summary.hpp"
#include "process/stop.hpp"
#include "run/checkpoint.hpp"
#include "run/initialiser.hpp"
#include "run/scoring.hpp"
#include "run/shard_classes.hpp"
#include "run/stability_warning.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace quorate {

namespace {

std::string configuration_lines(const Settings& settings, const Training& training)
{
    std::string lines;
    if (training.data) {
        lines = fmt::format("data       {}: {} x {} training rows, {} test rows\n",
                            settings.text("data"), training.rows, training.columns,
                            training.data->rows(Split::test));
        lines += fmt::format("objective  {}, l2 {:.9g}, l1 {:.9g}\n", settings.text("model"),
                             training.regularizer.l2, training.regularizer.l1);
    } else {
        lines = fmt::format("data       none, {} rows: times only\n", training.rows);
    }
    std::string scheme = settings.text("scheme");
    for (const auto& option : chosen(schemes(), settings, "scheme").options)
        if (settings.on(option.name))
            scheme += fmt::format(" --{} {}", option.name, settings.text(option.name));
    lines +=
        fmt::format("scheme     {}, {} workers, delay {}, slowdown {}, {:g} s a row, seed {}\n",
                    scheme, training.here, settings.text("delay"), settings.text("slowdown"),
                    training.row_time, training.seed);
    return lines + fmt::format("optimizer  {}, step {}, {} rounds, init {}\n",
                               settings.text("optimizer"), brief_number(settings.text("step")),
                               settings.text("rounds"),
                               initialiser_of(settings, training.model.get()));
}

void print_arrival(const trace::Arrival& row)
{
    show_on_stdout(fmt::format(
        "round {} worker {} task {} part {}: compute {:.6f} delay {:.6f} idle {:.6f} send {:.6f} "
        "s, {} rows, {} bytes, {}\n",
        row.round, row.worker, row.task, row.part, row.compute, row.delay, row.idle, row.send,
        row.samples, row.bytes, row.used ? "used" : "not used"));
}

// Returns a change as text: "worker 3 on node17 has died in round 12".
// @param host  of the worker; empty: left out
std::string told(const Change& change, const std::string& host, std::int64_t round)
{
    if (change.kind == Change::Kind::loading)
        return fmt::format("a standby rank takes the place of worker {} in round {}", change.worker,
                           round);
    const auto* what = change.kind == Change::Kind::died   ? "died"
                       : change.kind == Change::Kind::left ? "left"
                                                           : "joined";
    return fmt::format("worker {}{} has {} in round {}", change.worker,
                       host.empty() ? "" : " on " + host, what, round);
}

// Says what the run spent its time on. A trace that is gone does not make the run fail.
// @param answers  that it had, about
void say_summary(const std::string& path, std::int64_t answers)
{
    constexpr std::int64_t many = 1'000'000;  // reading them would take more than a second
    try {
        if (answers > many)
            say(summary_lines("summary", "quorate inspect " + path));
        else
            for (const auto& lines : summary(trace::read(path))) say(lines);
    } catch (const BadInput& gone) {
        log(LogLevel::warning, std::string("no summary: ") + gone.what());
    }
}

}  // namespace

Seconds seconds_unsaved(const Settings& settings)
{
    const auto seconds = to_duration(settings.text("unsaved"));
    if (!seconds) settings.refuse("unsaved", ": write 30s, 5min or 1h");
    return *seconds;
}

int traced_run(const Settings& settings, const Run& run, const std::string& clock,
               std::unique_ptr<Owner> owner)
{
    const auto& training = run.training;
    const bool quiet = settings.on("quiet");
    const auto& path = settings.text("trace");
    if (!quiet) say(configuration_lines(settings, training));
    if (const auto warning = training.coding->scheme->warning(); !warning.empty())
        log(LogLevel::warning, warning);
    if (const auto warning = stability_warning(settings, training); !warning.empty())
        log(LogLevel::warning, warning);
    if (training.data)
        if (const auto warning = lacking_classes(*training.data, training.coding->needs);
            !warning.empty())
            log(LogLevel::warning, warning);
    auto trace = [&] {
        if (!run.resumed)
            return trace::Writer(path, header_of(settings, run, clock), training.width(),
                                 std::move(owner));
        return trace::Writer(path, run.resumed->checkpoint.snapshot.position, changed_header(run),
                             training.width(), std::move(owner));
    }();
    trace.try_for(seconds_unsaved(settings), ask_to_stop);

    const auto workers = static_cast<int>(run.fleet.workers().size());
    ProgressLine line(training.engine.rounds, workers, training.data.has_value(), quiet);
    Watch watch;
    watch.engine.round = [&](const Progress& progress) { line.show(progress); };
    // What a scheme notes, such as a time that it chose, is to be known with --quiet too.
    watch.engine.note = [](const std::string& text) { log(LogLevel::error, text); };
    if (const bool all = settings.on("log"); all || !quiet)
        watch.engine.arrival = [&, all](const trace::Arrival& row) {
            line.arrived(row);
            if (all) print_arrival(row);
        };
    watch.scored = [&](const trace::Evaluation& row) { line.scored(row); };
    watch.engine.change = [&](const Change& change, std::int64_t round) {
        const auto& worker = run.fleet.workers()[static_cast<std::size_t>(change.worker)];
        log(LogLevel::note, told(change, clock == "wall" ? worker.host : "", round));
    };
    std::optional<Checkpointing> checkpoints;
    if (settings.on("checkpoint")) {
        checkpoints.emplace(settings, training, run.optimizers, configuration(settings, false),
                            trace);
        watch.engine.snapshot = [&](Snapshot snapshot) {
            checkpoints->stands(std::move(snapshot));
        };
    }
    bool can_go_on = run.resumed, stopped = false;
    watch.stopped = [&](const Outcome& outcome) {
        stopped = true;
        line.finish();
        log(LogLevel::detail, fmt::format("{} rounds are done; models are scored", outcome.rounds));
        if (!outcome.completed && checkpoints) can_go_on |= checkpoints->write();
    };
    Outcome outcome{};
    try {
        outcome = train(run, trace, stop_asked(), std::move(watch));
    } catch (const trace::Unsaved& lost) {
        line.finish();
        log(LogLevel::error,
            fmt::format(
                "{}{}", lost.what(),
                can_go_on ? "; " + how_to_resume(path) + " goes on from its checkpoint" : ""));
        return exit_run_again;
    } catch (const Failure&) {
        // Once stopped() was called it is too late for a checkpoint: after the last update no
        // snapshot is taken, so the optimisers are ahead of the last snapshot. If the run was
        // stopped before, stopped() has written one.
        if (!stopped && checkpoints && checkpoints->write()) trace.pause();
        throw;
    }
    if (!outcome.completed) {
        log(LogLevel::error,
            fmt::format("interrupted after round {} of {}; {} holds what was done{}",
                        outcome.rounds, training.engine.rounds, path,
                        can_go_on ? "; " + how_to_resume(path) + " goes on" : ""));
        return exit_run_again;
    }
    if (!quiet) {
        say(fmt::format("{}: {} rounds in {:.3f} s, {:.6f} s a round{}\n", path, outcome.rounds,
                        outcome.time, outcome.time / static_cast<double>(outcome.rounds),
                        outcome.stopped_at.empty() ? "" : "; stopped at " + outcome.stopped_at));
        if (outcome.last.round > 0) say(quality_line(outcome.last));
        say_summary(path, outcome.rounds * workers);
    }
    return exit_done;
}

}  // namespace quorate
