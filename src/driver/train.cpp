// SPDX-License-Identifier: BSD-2-Clause
#include "driver/train.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/host.hpp"
#include "base/version.hpp"
#include "compute/loss_derivatives.hpp"
#include "driver/checkpoint.hpp"
#include "driver/components.hpp"
#include "driver/progress.hpp"
#include "driver/scoring.hpp"
#include "driver/stability.hpp"
#include "driver/stop.hpp"
#include "fleet/replay_fleet.hpp"
#include "trace/writer.hpp"

namespace quorate {

namespace {

trace::Header header(const Settings& settings, const Training& training, const std::string& clock)
{
    const auto environment = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value ? value : "");
    };
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
                   {"clock", clock},
                   {"data", training.data ? training.data->name() : ""},
                   {"scheme", settings.text("scheme")},
                   {"model", training.model ? settings.text("model") : ""},
                   {"optimizer", settings.text("optimizer")},
                   {"delay", settings.text("delay")},
                   {"slowdown", settings.text("slowdown")},
                   {"trace_arrivals", recorded == Arrivals::all    ? "all"
                                      : recorded == Arrivals::used ? "used"
                                                                   : "none"}};
    header.real = {{"l2", training.regularizer.l2},
                   {"l1", training.regularizer.l1},
                   {"row_time", training.row_time}};
    header.integer = {{"seed", static_cast<std::int64_t>(training.seed)},
                      {"workers", training.workers},
                      {"rows", training.rows},
                      {"test_rows", training.data ? training.data->rows(Split::test) : 0},
                      {"columns", training.columns},
                      {"rounds", training.engine.rounds}};
    return header;
}

std::string initial_of(const Settings& settings, const Training& training)
{
    if (settings.on("init")) return settings.text("init");
    return training.model && !training.model->linear() ? "he" : "zero";
}

void print_configuration(const Settings& settings, const Training& training)
{
    if (training.data) {
        fmt::print("data       {}: {} x {} training rows, {} test rows\n", settings.text("data"),
                   training.rows, training.columns, training.data->rows(Split::test));
        fmt::print("objective  {}, l2 {:.9g}, l1 {:.9g}\n", settings.text("model"),
                   training.regularizer.l2, training.regularizer.l1);
    } else {
        fmt::print("data       none, {} rows: times only\n", training.rows);
    }
    std::string scheme = settings.text("scheme");
    for (const auto& option : chosen(schemes(), settings, "scheme").options)
        if (settings.on(option.name))
            scheme += fmt::format(" --{} {}", option.name, settings.text(option.name));
    fmt::print("scheme     {}, {} workers, delay {}, slowdown {}, {:g} s a row, seed {}\n", scheme,
               training.workers, settings.text("delay"), settings.text("slowdown"),
               training.row_time, training.seed);
    fmt::print("optimizer  {}, step {}, {} rounds, init {}\n", settings.text("optimizer"),
               settings.text("step"), settings.text("rounds"), initial_of(settings, training));
    std::fflush(stdout);
}

void print_arrival(const trace::Arrival& row)
{
    fmt::print(
        "round {} worker {} task {} part {}: compute {:.6f} delay {:.6f} idle {:.6f} send {:.6f} "
        "s, {} rows, "
        "{} bytes, {}\n",
        row.round, row.worker, row.task, row.part, row.compute, row.delay, row.idle, row.send,
        row.samples, row.bytes, row.used ? "used" : "not used");
}

// Scores what was kept, and adds it to the trace. @return the last row
/// @param done  rounds whose models were scored before
trace::Evaluation score(const Training& training, const Evaluate& evaluate, trace::Writer& trace,
                        const std::vector<Progress>& rounds, const std::set<std::int64_t>& done)
{
    const auto batch = models_at_once(training.width());
    const auto kept = trace.iterate_rounds();
    std::int64_t next = 0;
    std::vector<double> penalties;
    std::vector<std::int64_t> asked;
    const auto models = [&] {
        std::vector<Point> some;
        for (; some.size() < batch && next < trace.iterates(); ++next) {
            const auto round = kept.at(static_cast<std::size_t>(next));
            if (done.contains(round)) continue;
            asked.push_back(round);
            some.push_back(trace.iterate(next));
            penalties.push_back(training.regularizer.value(*some.back()));
        }
        return some;
    };
    std::size_t scored = 0;
    trace::Evaluation row{};
    evaluate(models, [&](const Scored& one) {
        const auto round = asked.at(scored);
        const auto& of = rounds.at(static_cast<std::size_t>(round - 1));
        row = evaluation_row(round, of.model, of.time, penalties.at(scored), one);
        trace.add(row);
        ++scored;
    });
    return row;
}

// Hosts of workers, numbered in the order of the workers.
struct Nodes {
    explicit Nodes(const std::vector<WorkerInfo>& workers)
    {
        for (const auto& worker : workers)
            if (std::ranges::find(names, worker.host) == names.end()) names.push_back(worker.host);
    }
    std::int64_t number(const std::string& host) const
    {
        return std::ranges::find(names, host) - names.begin();
    }
    std::vector<std::string> names;
};

// "worker 3 on node17 has died in round 12"
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

// What an optimiser remembered.
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

// The part of a run over MPI that was done before. Contributions that are in use yet are computed again,
// which needs the rows; for all others there is nothing to compute.
struct History {
    History(const Training& training, const Resumption& resumed)
        : computing(training.computing()),
          recipes(
              resumed.checkpoint.snapshot.arrivals.empty()
                  ? Recipes(training.coding->needs, training.coding->batches, training.byzantine,
                            training.width())
                  : Recipes(training.coding->needs, training.byzantine, *training.data, computing)),
          fleet(recipes, resumed.trace)
    {
    }
    Computing computing;
    Recipes recipes;
    ReplayFleet fleet;
};

}  // namespace

int train(const Settings& settings, const Training& training, Fleet& fleet,
          const Optimizers& optimizers, const std::string& clock, const Evaluate& evaluate,
          const std::optional<Resumption>& resumed, LiveScoring* live)
{
    const bool quiet = settings.on("quiet");
    const auto& path = settings.text("trace");
    if (!quiet) print_configuration(settings, training);
    if (const auto warning = training.coding->scheme->warning(); !warning.empty())
        fmt::print(stderr, "quorate: warning: {}\n", warning);
    if (const auto warning = stability_warning(settings, training); !warning.empty())
        fmt::print(stderr, "quorate: warning: {}\n", warning);
    const Nodes nodes(fleet.workers());
    auto about = header(settings, training, clock);
    about.text["nodes"] = fmt::format("{}", fmt::join(nodes.names, " "));
    auto trace = resumed
                     ? trace::Writer(path, resumed->checkpoint.snapshot.position, training.width())
                     : trace::Writer(path, about, training.width());
    if (!resumed)
        for (const auto& worker : fleet.workers())
            trace.add(trace::WorkerRow{worker.rank, worker.rows, worker.columns,
                                       nodes.number(worker.host)});

    ProgressLine line(training.engine.rounds, training.data.has_value(), quiet);
    std::vector<Progress> rounds;
    std::set<std::int64_t> scored;
    trace::Evaluation last{};
    if (resumed) {
        for (const auto& round : resumed->trace.rounds)
            rounds.push_back({std::ssize(rounds) + 1, round.loss_estimate, round.time,
                              static_cast<int>(round.model)});
        for (const auto& row : resumed->trace.evaluations) scored.insert(row.round);
    }
    double penalty = 0;  // of the model that is being scored
    const auto scored_live = [&](std::int64_t round, const Scored& one) {
        const auto& of = rounds.at(static_cast<std::size_t>(round - 1));
        last = evaluation_row(round, of.model, of.time, penalty, one);
        trace.add(last);
        scored.insert(round);
        if (!quiet) print_quality(last);
    };
    Observer observer;
    if (live)
        observer.kept = [&](std::int64_t round, const Point& model) {
            if (live->offer(round, model)) penalty = training.regularizer.value(*model);
        };
    observer.round = [&](const Progress& progress) {
        rounds.push_back(progress);
        line.show(progress);
        if (live) live->poll(scored_live);
    };
    if (settings.on("log")) observer.arrival = print_arrival;
    observer.note = [&](const std::string& text) { line.say(text); };
    if (!quiet)
        observer.change = [&](const Change& change, std::int64_t round) {
            const auto& worker = fleet.workers()[static_cast<std::size_t>(change.worker)];
            line.say(told(change, clock == "wall" ? worker.host : "", round));
        };
    auto options = training.engine;
    if (training.data && !training.coding->needs.coded.empty()) {
        options.residual = loss_derivatives(*training.data, training.model->loss());
        options.rows = training.rows;
        options.outputs = training.model->outputs();
    }
    std::optional<Checkpointing> checkpoints;
    if (settings.on("checkpoint")) {
        checkpoints.emplace(settings, training, optimizers, configuration(settings, false), trace);
        observer.snapshot = [&](Snapshot snapshot) { checkpoints->stands(std::move(snapshot)); };
    }
    std::optional<History> history;
    if (resumed && clock == "wall") history.emplace(training, *resumed);
    Engine engine(options, *training.coding->scheme, history ? history->fleet : fleet, optimizers,
                  trace);
    if (resumed) {
        engine.resume(resumed->past(), history ? &fleet : nullptr);
        restore(optimizers, resumed->checkpoint);
    }
    std::int64_t done = 0;
    try {
        done = engine.run(stop_asked(), std::move(observer));
    } catch (const Failure&) {
        if (checkpoints && checkpoints->write()) trace.pause();
        throw;
    }
    line.finish();

    const bool completed = done == training.engine.rounds;
    if (live) live->finish(scored_live);
    const bool can_go_on = !completed && checkpoints && (checkpoints->write() || resumed);
    trace.pause();
    if (completed && trace.iterates() > std::ssize(scored))
        last = score(training, evaluate, trace, rounds, scored);
    std::vector<double> final;
    for (const auto& optimizer : optimizers)
        final.insert(final.end(), optimizer->model().begin(), optimizer->model().end());
    trace.finish(final, completed ? "completed" : "interrupted");
    if (!completed) {
        fmt::print(stderr, "quorate: interrupted after round {} of {}; {} holds what was done{}\n",
                   done, training.engine.rounds, path,
                   can_go_on ? "; the same command with --resume goes on" : "");
        return exit_run_again;
    }
    if (!quiet) {
        fmt::print("{}: {} rounds in {:.3f} s, {:.6f} s a round\n", path, done, rounds.back().time,
                   rounds.back().time / static_cast<double>(done));
        if (last.round > 0) print_quality(last);
    }
    return exit_done;
}

}  // namespace quorate
