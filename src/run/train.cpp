// SPDX-License-Identifier: BSD-2-Clause
#include "run/train.hpp"

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
#include "compute/loss_derivatives.hpp"
#include "data/identity.hpp"
#include "fleet/nodes.hpp"
#include "fleet/replay_fleet.hpp"
#include "parts/plugins.hpp"
#include "run/divergence.hpp"
#include "run/expected.hpp"
#include "run/kept_contributions.hpp"
#include "run/names.hpp"
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

// Gives the optimisers the memory that a checkpoint holds.
void restore(const Optimizers& optimizers, const Checkpoint& checkpoint)
{
    for (std::size_t model = 0; model < optimizers.size(); ++model) {
        const auto& memory = checkpoint.optimizers.at(model);
        optimizers[model]->updates() = memory.updates;
        auto vectors = optimizers[model]->memory();
        for (std::size_t i = 0; i < vectors.size(); ++i)
            std::ranges::copy(memory.vectors.at(i), vectors[i].begin());
    }
}

// The fleet with which a resumed run over MPI goes through what was done before. Only contributions
// that are still in use are computed again. That needs the rows of all workers; if there are none,
// no rows are read.
struct History {
    History(const Training& training, const Resumption& resumed)
        : computing(training.computing()),
          recipes(
              resumed.checkpoint.snapshot.arrivals.empty()
                  ? Recipes(training.coding->needs, training.coding->batches, training.byzantine,
                            training.width(), training.wire)
                  : Recipes(training.coding->needs, training.byzantine, *training.data, computing)),
          fleet(recipes, resumed.trace, static_cast<std::size_t>(resumed.workers()))
    {
    }
    Computing computing;
    Recipes recipes;
    ReplayFleet fleet;
};

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
                   {"aggregate", run.fleet.groups() > 1 ? "node" : "flat"},
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
    return header;
}

Outcome train(const Run& run, trace::Record& record, const std::atomic<bool>& stop, Watch watch)
{
    const auto& training = run.training;
    const auto* resumed = run.resumed;
    std::vector<Progress> rounds;
    std::set<std::int64_t> scored;
    Point kept;  // a model that may have to be scored at once
    if (resumed) {
        for (const auto& round : resumed->trace.rounds)
            rounds.push_back({std::ssize(rounds) + 1, round.loss_estimate, round.time,
                              static_cast<int>(round.model)});
        for (const auto& row : resumed->trace.evaluations) scored.insert(row.round);
    } else {
        add_workers(record, run.fleet.workers(), Nodes(run.fleet.workers()));
    }

    Stopping stopping(training.stop_rules, training.regularizer);
    if (resumed)
        for (const auto& row : resumed->trace.evaluations) stopping.scored(row);
    Divergence divergence;
    if (resumed)
        for (const auto& round : resumed->trace.rounds) divergence.look(round.loss_estimate);
    const auto on_divergence =
        training.settings.one_of("on-divergence", {"stop", "warn", "ignore"});
    Outcome outcome{};
    double penalty = 0;  // of the model that is being scored
    const auto scored_live = [&](std::int64_t round, const Scored& one) {
        const auto& of = rounds.at(static_cast<std::size_t>(round - 1));
        outcome.last = evaluation_row(round, of.model, of.time, penalty, one);
        record.add(outcome.last);
        scored.insert(round);
        stopping.scored(outcome.last);
        if (watch.scored) watch.scored(outcome.last);
    };
    auto observer = watch.engine;
    observer.goes_on = [&] { add_workers(record, later_workers(run), all_nodes(run)); };
    if (run.live)
        observer.kept = [&](std::int64_t round, const Point& model) {
            if (run.live->offer(round, model)) penalty = training.regularizer.value(*model);
        };
    else if (training.stop_rules.scored() && !training.last_round)
        observer.kept = [&](std::int64_t, const Point& model) { kept = model; };
    observer.done = [&](const Update& update) {
        if (training.last_round) return update.round >= *training.last_round;
        // No step was made yet, so a shorter one is no remedy.
        if (update.round == 1 && !std::isfinite(update.loss)) {
            const auto message = fmt::format(
                "the training loss of the first round is {:g}, {}: use smaller values and "
                "labels, as import --scale standardise and --label-scale make them",
                update.loss,
                training.searches ? fmt::format("so --optimizer {} cannot compare others with it",
                                                training.settings.text("optimizer"))
                                  : "before any step");
            if (on_divergence == "stop") throw Failure(message);
            if (on_divergence == "warn") log(LogLevel::warning, message);
        }
        if (on_divergence != "ignore" && !training.searches && divergence.look(update.loss)) {
            const auto message =
                fmt::format("the training loss has grown from {:.4g} to {:.4g} in round {}: {}",
                            divergence.first(), update.loss, update.round, smaller_step(training));
            if (on_divergence == "stop") throw Failure(message + ", or --on-divergence warn");
            log(LogLevel::warning, message);
        }
        return stopping.done(update);
    };
    observer.round = [&](const Progress& progress) {
        rounds.push_back(progress);
        if (watch.engine.round) watch.engine.round(progress);
        if (const auto model = std::exchange(kept, nullptr);
            model && training.stop_rules.may_be_met(progress.loss)) {
            penalty = training.regularizer.value(*model);
            scored_live(progress.round, run.score(model));
        }
        if (run.live) run.live->collect(scored_live, false);
    };
    auto options = training.engine;
    options.point_memory = run.fleet.point_memory();
    if (training.data && !training.coding->needs.coded.empty()) {
        options.estimates.loss_derivatives =
            loss_derivatives(*training.data, training.model->loss());
        options.estimates.rows = training.rows;
        options.estimates.outputs = training.model->outputs();
    }
    std::optional<History> history;
    if (resumed && run.past_from_trace) history.emplace(training, *resumed);
    Engine engine(options, *training.coding->scheme, history ? history->fleet : run.fleet,
                  run.optimizers, record);
    if (resumed) {
        engine.resume(resumed->past(), history ? &run.fleet : nullptr);
        restore(run.optimizers, resumed->checkpoint);
    }
    outcome.rounds = engine.run(stop, std::move(observer));
    const bool all = outcome.rounds == training.engine.rounds;
    if (!all)
        outcome.stopped_at = training.last_round ? "the end of the recorded run" : stopping.why();
    outcome.completed = all || !outcome.stopped_at.empty();
    if (!rounds.empty()) outcome.time = rounds.back().time;
    if (watch.stopped) watch.stopped(outcome);
    if (run.live) run.live->collect(scored_live, true);
    record.pause();
    if (outcome.completed && record.iterates() > std::ssize(scored))
        outcome.last = score_kept(record, rounds, scored, training.width(), training.regularizer,
                                  run.evaluate);
    std::vector<double> final;
    for (const auto& optimizer : run.optimizers)
        final.insert(final.end(), optimizer->model().begin(), optimizer->model().end());
    record.finish(final, outcome.completed ? "completed" : "interrupted", outcome.stopped_at);
    return outcome;
}

}  // namespace quorate
