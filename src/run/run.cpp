// SPDX-License-Identifier: BSD-2-Clause
#include "run/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "data/identity.hpp"
#include "fleet/nodes.hpp"
#include "parts/plugins.hpp"
#include "run/expected.hpp"
#include "run/history.hpp"
#include "run/names.hpp"
#include "run/needed_memory.hpp"
#include "run/same_data.hpp"

namespace quorate {

namespace {

void add_workers(trace::Record& record, std::span<const WorkerInfo> workers, const Nodes& nodes)
{
    for (const auto& worker : workers)
        record.add(
            trace::WorkerRow{worker.rank, worker.rows, worker.columns, nodes.number(worker.host)});
}

// Returns the workers that a run has had since it was resumed only.
std::span<const WorkerInfo> later_workers(const Run& run)
{
    return std::span(run.fleet.workers()).subspan(run.resumed->trace.workers.size());
}

// Returns the hosts of all workers that a resumed run has had.
Nodes all_nodes(const Run& run)
{
    const auto before = run.resumed->trace.text("nodes");
    return Nodes(later_workers(run),
                 before.empty() ? std::vector<std::string>() : split(before, ' '));
}

// Returns what to try when the loss grows.
std::string smaller_step(const Training& training)
{
    const auto& settings = training.settings;
    return fmt::format("--step {:.4g} is too large: try --step {:.4g}", settings.real("step", 0),
                       careful_step(settings, *training.data, *training.model, training.regularizer,
                                    training.estimates));
}

}  // namespace

trace::Header header_of(const Settings& settings, const Run& run, const std::string& clock)
{
    const auto& training = run.training;
    trace::Header header;
    const auto recorded = training.engine.arrivals;
    header.text = {{"quorate_version", version},
                   {"git_revision", git_revision},
                   {"command_line", settings.command_line},
                   {"config", configuration(settings, !training.data)},
                   {"host", host_name()},
                   {"cluster", environment("SLURM_CLUSTER_NAME")},
                   {"scheduler_job_id", environment("SLURM_JOB_ID")},
                   {"libraries", build_info},
                   {"plugins", loaded_plugins()},
                   {"clock", clock},
                   {"data", training.data ? training.data->name() : ""},
                   {"scheme", settings.text("scheme")},
                   {"model", training.model ? settings.text("model") : ""},
                   {"optimizer", settings.text("optimizer")},
                   {"delay", settings.text("delay")},
                   {"slowdown", settings.text("slowdown")},
                   {"wire", settings.text("wire")},
                   {"nodes", fmt::format("{}", fmt::join(Nodes(run.fleet.workers()).names, " "))},
                   {"aggregate", run.fleet.aggregation()},
                   {"trace_arrivals", recorded == Arrivals::all    ? "all"
                                      : recorded == Arrivals::used ? "used"
                                                                   : "none"}};
    if (training.data) {
        header.text.merge(digests_of_names(*training.data));
        header.text[data_attribute] = identity_of(*training.data);
    }
    header.text[events_attribute] = digest_of_events(settings);
    header.real = {{"l2", training.regularizer.l2},
                   {"l1", training.regularizer.l1},
                   {"row_time", training.row_time}};
    if (const auto expected = expected_round(settings, training)) {
        header.real["expected_delay"] = expected->delay;
        header.real["expected_tasks"] = expected->tasks;
    }
    const bool varying = chosen(schemes(), settings, "scheme").properties.varying_samples;
    header.integer = {
        {"varying_samples", varying},
        {"seed", static_cast<std::int64_t>(training.seed)},
        {"workers", std::ssize(run.fleet.workers())},
        {"shared_workers", std::ranges::count_if(run.fleet.workers(), &WorkerInfo::shared)},
        {"rows", training.rows},
        {"test_rows", training.data ? training.data->rows(Split::test) : 0},
        {"columns", training.columns},
        {"scored_rows", training.scored ? training.scored->count(Split::train) : 0},
        {"scored_test_rows", training.scored ? training.scored->count(Split::test) : 0},
        {"kept", training.coding->needs.kept},
        {"kept_points", training.coding->needs.points_of_kept()},
        {"slots", training.coding->needs.slots},
        {"kept_bytes", std::llround(bytes_of_kept(training))},
        {"rounds", training.engine.rounds}};
    return header;
}

trace::Header changed_header(const Run& run)
{
    trace::Header header;
    header.text["nodes"] = fmt::format("{}", fmt::join(all_nodes(run).names, " "));
    header.integer["workers"] = std::ssize(run.fleet.workers());
    if (const auto& loss = run.resumed->loss)
        header.text["losses"] =
            fmt::format("{}{} rounds after round {}: {}\n", run.resumed->trace.text("losses"),
                        run.resumed->rounds, run.resumed->checkpoint.snapshot.round, loss->why);
    return header;
}

namespace {

// What train() takes note of while the engine runs: rounds, scores, and why the run ends.
class RunObserver {
public:
    // @param run, record  must outlive this object
    RunObserver(const Run& run, trace::Record& record, Watch watch)
        : run_(run), training_(run.training), record_(record), watch_(std::move(watch)),
          stopping_(training_.stop_rules, training_.regularizer, sums_over(run.fleet)),
          on_divergence_(training_.settings.one_of("on-divergence", {"stop", "warn", "ignore"}))
    {
        if (run.resumed)
            repeat(run.resumed->trace);
        else
            add_workers(record, run.fleet.workers(), Nodes(run.fleet.workers()));
    }

    // What the engine is to call. It refers to this object.
    Observer of_engine()
    {
        auto observer = watch_.engine;
        observer.goes_on = [this] { add_workers(record_, later_workers(run_), all_nodes(run_)); };
        if (run_.live)
            observer.kept = [this](std::int64_t round, const Point& model) { offer(round, model); };
        else if (training_.stop_rules.scored() && !training_.last_round)
            observer.kept = [this](std::int64_t, const Point& model) { kept_ = model; };
        observer.done = [this](const Update& update) { return is_done(update); };
        observer.round = [this](const Progress& progress) { take(progress); };
        return observer;
    }

    // Takes note of the end of the engine's run.
    void stop(std::int64_t rounds)
    {
        outcome_.rounds = rounds;
        const bool all = rounds == training_.engine.rounds;
        if (!all)
            outcome_.stopped_at =
                training_.last_round ? "the end of the recorded run" : stopping_.why();
        outcome_.completed = all || !outcome_.stopped_at.empty();
        if (!rounds_.empty()) outcome_.time = rounds_.back().time;
        if (watch_.stopped) watch_.stopped(outcome_);
    }

    // Scores what is still to be scored, when all models that are kept are in the record.
    Outcome end()
    {
        collect(true);
        record_.pause();
        if (!outcome_.completed) return outcome_;
        if (run_.live && !run_.live->has_ended()) skip_all_but_the_last();
        if (record_.iterates() > std::ssize(scored_))
            outcome_.last = score_kept(record_, rounds_, scored_, training_.width(),
                                       training_.regularizer, run_.evaluate);
        return outcome_;
    }

private:
    // Takes note of what a resumed run has done before.
    void repeat(const trace::Trace& trace)
    {
        for (const auto& round : trace.rounds) {
            rounds_.push_back({std::ssize(rounds_) + 1, round.loss_estimate, round.time,
                               static_cast<int>(round.model)});
            divergence_.look(round.loss_estimate);
            stopping_.repeat(round);
        }
        for (const auto& row : trace.evaluations) {
            scored_.insert(row.round);
            stopping_.scored(row);
        }
    }

    void offer(std::int64_t round, const Point& model)
    {
        if (run_.live->offer(round, model)) penalty_ = training_.regularizer.value(*model);
    }

    void collect(bool all)
    {
        if (!run_.live) return;
        run_.live->collect([this](std::int64_t round, const Scored& one) { add(round, one); }, all);
    }

    // Leaves out the models that were not offered because another one was being scored: the run is
    // not to wait for them.
    void skip_all_but_the_last()
    {
        auto kept = record_.iterate_rounds();
        if (kept.empty()) return;
        kept.pop_back();
        for (const auto round : kept)
            if (scored_.insert(round).second) ++outcome_.skipped;
    }

    // Adds the scores of a model.
    void add(std::int64_t round, const Scored& one)
    {
        const auto& of = rounds_.at(static_cast<std::size_t>(round - 1));
        outcome_.last = evaluation_row(round, of.model, of.time, penalty_, one);
        record_.add(outcome_.last);
        scored_.insert(round);
        stopping_.scored(outcome_.last);
        if (watch_.scored) watch_.scored(outcome_.last);
    }

    void take(const Progress& progress)
    {
        rounds_.push_back(progress);
        if (watch_.engine.round) watch_.engine.round(progress);
        if (const auto model = std::exchange(kept_, nullptr);
            model && training_.stop_rules.may_be_met(progress.loss)) {
            penalty_ = training_.regularizer.value(*model);
            add(progress.round, run_.score(model));
        }
        collect(false);
    }

    bool is_done(const Update& update)
    {
        if (training_.last_round) return update.round >= *training_.last_round;
        // No step was made yet, so a shorter one is no remedy.
        if (update.round == 1 && !std::isfinite(update.loss))
            note_divergence(first_loss(update.loss), "");
        if (on_divergence_ != "ignore" && !training_.searches && divergence_.look(update.loss))
            note_divergence(
                fmt::format("the training loss has grown from {:.4g} to {:.4g} in round {}: {}",
                            divergence_.first(), update.loss, update.round,
                            smaller_step(training_)),
                ", or --on-divergence warn");
        return stopping_.done(update);
    }

    // Returns what is wrong with the loss before any step.
    std::string first_loss(double loss) const
    {
        return fmt::format(
            "the training loss of the first round is {:g}, {}: use smaller values and "
            "labels, as import --scale standardise and --label-scale make them",
            loss,
            training_.searches ? fmt::format("so --optimizer {} cannot compare others with it",
                                             training_.settings.text("optimizer"))
                               : "before any step");
    }

    // @param or_else  another remedy, where the run is stopped
    void note_divergence(const std::string& message, const std::string& or_else) const
    {
        if (on_divergence_ == "stop") throw Failure(message + or_else);
        if (on_divergence_ == "warn") log(LogLevel::warning, message);
    }

    const Run& run_;
    const Training& training_;
    trace::Record& record_;
    Watch watch_;
    Stopping stopping_;
    Divergence divergence_;
    std::string on_divergence_;
    std::vector<Progress> rounds_;
    std::set<std::int64_t> scored_;  // rounds
    Point kept_;                     // a model that may have to be scored at once
    double penalty_ = 0;             // of the model that is being scored
    Outcome outcome_{};
};

EngineOptions engine_options(const Run& run)
{
    auto options = engine_options(run.training);
    options.point_memory = run.fleet.point_memory();
    return options;
}

}  // namespace

Outcome train(const Run& run, trace::Record& record, const std::atomic<bool>& stop, Watch watch)
{
    auto* resumed = run.resumed;
    RunObserver observer(run, record, std::move(watch));
    std::optional<History> history;
    if (resumed && run.past_from_trace) history.emplace(run.training, *resumed, run.share, true);
    std::optional<Engine> engine(std::in_place, engine_options(run), *run.training.coding->scheme,
                                 history ? history->fleet : run.fleet, run.optimizers,
                                 run.fleet.join_models(record));
    if (resumed) {
        engine->resume(resumed->past(run.share), history ? &run.fleet : nullptr);
        restore(run.optimizers, resumed->checkpoint, run.share);
        resumed->checkpoint.drop_vectors();
    }
    observer.stop(engine->run(stop, observer.of_engine()));
    engine.reset();  // the memory is needed for the models that come from other hosts
    std::vector<ConstNumbers> models;
    for (const auto& optimizer : run.optimizers) models.push_back(optimizer->model());
    run.fleet.end_models(models, record);
    const auto outcome = observer.end();
    record.end(outcome.completed ? "completed" : "interrupted", outcome.stopped_at);
    return outcome;
}

}  // namespace quorate
