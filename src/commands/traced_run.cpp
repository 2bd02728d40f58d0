// SPDX-License-Identifier: BSD-2-Clause
#include "commands/traced_run.hpp"

#include <fmt/format.h>

#include <memory>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/streams.hpp"
#include "base/text.hpp"
#include "commands/progress.hpp"
#include "commands/run_folder.hpp"
#include "commands/summary.hpp"
#include "process/stop.hpp"
#include "run/checkpoint.hpp"
#include "run/evaluations.hpp"
#include "run/initialiser.hpp"
#include "run/memory_checkpoint.hpp"
#include "run/warnings.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"
#include "transport/clock.hpp"

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
    std::string straggling;
    for (const auto& one : delay_options)
        if (const auto& model = settings.text(one.name); model != "none")
            straggling += fmt::format(", {} {}", one.name, model);
    lines += fmt::format("scheme     {}, {} workers{}, {:g} s a row, seed {}\n", scheme,
                         training.here, straggling, training.row_time, training.seed);
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

void warn(const std::string& warning)
{
    if (!warning.empty()) log(LogLevel::warning, warning);
}

// Says what the run is, and what may be wrong with it.
void introduce(const Settings& settings, const Training& training)
{
    if (!settings.on("quiet")) say(configuration_lines(settings, training));
    warn(training.coding->scheme->warning());
    warn(stability_warning(settings, training));
    if (training.data) warn(lacking_classes(*training.data, training.coding->needs));
}

// Returns why the rounds after the checkpoint are lost.
std::string reason_of_loss(const Resumption& resumed)
{
    if (resumed.loss) return resumed.loss->why;
    const auto& status = resumed.trace.status();
    return status == "running" ? "killed" : status;
}

trace::Writer open_trace(const Settings& settings, const Run& run, const std::string& clock,
                         std::unique_ptr<Owner> owner)
{
    const auto& path = settings.text("trace");
    const auto width = run.training.width();
    if (!run.resumed) return {path, header_of(settings, run, clock), width, std::move(owner)};
    return {path,
            run.resumed->checkpoint.snapshot.position,
            reason_of_loss(*run.resumed),
            changed_header(run),
            width,
            std::move(owner)};
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

namespace {

// A run that shows how it goes on, writes checkpoints, and says how it ended.
class TracedRun {
public:
    TracedRun(const Settings& settings, const Run& run, const std::string& clock,
              std::unique_ptr<Owner> owner)
        : settings_(settings), run_(run), wall_(clock == "wall"), quiet_(settings.on("quiet")),
          trace_(open_trace(settings, run, clock, std::move(owner))),
          line_(run.training.engine.rounds, workers(), run.training.data.has_value(), quiet_),
          can_go_on_(run.resumed != nullptr)
    {
        trace_.try_for(seconds_unsaved(settings), ask_to_stop);
        if (settings.on("checkpoint"))
            checkpoints_.emplace(settings, run.training, run.optimizers,
                                 configuration(settings, false), trace_,
                                 [&fleet = run.fleet](const auto& vectors, const auto& take) {
                                     fleet.join_vectors(vectors, take);
                                 });
        if (const auto every = run.states ? memory_interval_of(settings) : std::nullopt)
            in_memory_.emplace(*every, run.optimizers, run.share, recorded(*run.states));
    }

    // @return the exit status
    int train()
    {
        Outcome outcome{};
        try {
            outcome = quorate::train(run_, trace_, stop_asked(), watch());
        } catch (const trace::Unsaved& lost) {
            line_.finish();
            log(LogLevel::error, lost.what() + go_on(" from its checkpoint"));
            return exit_run_again;
        } catch (const LostShare& lost) {
            line_.finish();
            go_back(lost);
        } catch (const Failure&) {
            // Once stopped() was called it is too late for a checkpoint: after the last update no
            // snapshot is taken, so the optimisers are ahead of the last snapshot. If the run was
            // stopped before, stopped() has written one. Where parameters are shared out nobody
            // joins the vectors any more, because owners may wait for what does not come.
            if (!stopped_ && checkpoints_ && checkpoints_->write()) trace_.pause();
            throw;
        }
        return say_end(outcome);
    }

private:
    int workers() const { return static_cast<int>(run_.fleet.workers().size()); }

    // A state in memory is of no use before the trace has the rows up to it.
    StateLead recorded(StateLead states)
    {
        const auto needed = std::make_shared<trace::Position>();
        states.begin = [needed, begin = states.begin](const Snapshot& snapshot) {
            begin(snapshot);
            *needed = snapshot.position;
        };
        states.is_whole = [this, needed, is_whole = states.is_whole] {
            return trace_.write_up_to(*needed) && is_whole();
        };
        return states;
    }

    Watch watch()
    {
        Watch watch;
        watch.engine.round = [this](const Progress& progress) { line_.show(progress); };
        // What a scheme notes, such as a time that it chose, is to be known with --quiet too.
        watch.engine.note = [](const std::string& text) { log(LogLevel::error, text); };
        if (const bool all = settings_.on("log"); all || !quiet_)
            watch.engine.arrival = [this, all](const trace::Arrival& row) {
                line_.arrived(row);
                if (all) print_arrival(row);
            };
        watch.scored = [this](const trace::Evaluation& row) { line_.scored(row); };
        watch.engine.change = [this](const Change& change, std::int64_t round) {
            const auto& worker = run_.fleet.workers()[static_cast<std::size_t>(change.worker)];
            log(LogLevel::note, told(change, wall_ ? worker.host : "", round));
        };
        if (checkpoints_)
            watch.engine.snapshot = [this](Snapshot snapshot) {
                if (in_memory_) in_memory_->stands(snapshot);
                checkpoints_->stands(std::move(snapshot));
            };
        watch.stopped = [this](const Outcome& outcome) { stopped(outcome); };
        return watch;
    }

    void stopped(const Outcome& outcome)
    {
        stopped_ = true;
        line_.finish();
        log(LogLevel::detail, fmt::format("{} rounds are done; models are scored", outcome.rounds));
        if (!outcome.completed && checkpoints_) can_go_on_ |= checkpoints_->write();
    }

    // The owner of a share is lost, but a checkpoint, in a file or in memory, has its vectors.
    [[noreturn]] void go_back(const LostShare& lost)
    {
        trace_.pause();  // the newest checkpoint is written
        // One that was begun last may not be there.
        can_go_on_ = run_.resumed || (checkpoints_ && checkpoints_->has_written());
        if (!can_go_on_ && !(in_memory_ && in_memory_->has_whole()))
            throw Failure(
                fmt::format("{}, and there is no checkpoint{}: begin the run again, or "
                            "use --aggregate node",
                            lost.what(), checkpoints_ ? " yet" : ""));
        throw GoBack({lost.what(), run_.fleet.now(), clock_seconds()},
                     go_on(" from its checkpoint"));
    }

    int say_end(const Outcome& outcome) const
    {
        const auto& path = settings_.text("trace");
        if (!outcome.completed) {
            log(LogLevel::error,
                fmt::format("interrupted after round {} of {}; {} holds what was done{}",
                            outcome.rounds, run_.training.engine.rounds, path, go_on("")));
            return exit_run_again;
        }
        if (quiet_) return exit_done;
        say(fmt::format("{}: {} rounds in {:.3f} s, {:.6f} s a round{}\n", path, outcome.rounds,
                        outcome.time, outcome.time / static_cast<double>(outcome.rounds),
                        outcome.stopped_at.empty() ? "" : "; stopped at " + outcome.stopped_at));
        if (outcome.last.round > 0) say(quality_line(outcome.last));
        if (outcome.skipped > 0)
            say(
                fmt::format("{} models were not scored, as others were being scored: quorate "
                            "evaluate {} scores them\n",
                            outcome.skipped, path));
        say_summary(path, outcome.rounds * workers());
        return exit_done;
    }

    // Says how the run can go on; nothing if it cannot.
    std::string go_on(const std::string& from) const
    {
        if (!can_go_on_) return "";
        return fmt::format("; {} goes on{}", how_to_resume(settings_.text("trace")), from);
    }

    const Settings& settings_;
    const Run& run_;
    bool wall_, quiet_;
    trace::Writer trace_;
    ProgressLine line_;
    std::optional<Checkpointing> checkpoints_;
    std::optional<MemoryCheckpoints> in_memory_;
    bool can_go_on_, stopped_ = false;
};

}  // namespace

int traced_run(const Settings& settings, const Run& run, const std::string& clock,
               std::unique_ptr<Owner> owner)
{
    introduce(settings, run.training);
    return TracedRun(settings, run, clock, std::move(owner)).train();
}

}  // namespace quorate
