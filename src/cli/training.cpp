// SPDX-License-Identifier: BSD-2-Clause
#include "cli/training.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/components.hpp"
#include "cli/initial.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/stop.hpp"
#include "trace/reader.hpp"
#include "trace/recorded_times.hpp"

namespace quorate {

namespace {

double l2_of(const Settings& settings, const DataSet& data)
{
    if (settings.text("l2") == "1/n") return 1.0 / static_cast<double>(data.rows(Split::train));
    if (!to_real(settings.text("l2")))
        settings.refuse("l2", ": give a number of at least 0, or 1/n");
    return settings.real("l2", 0);
}

// --row-time: seconds, or the median of what the workers of a trace took.
Seconds row_time_of(const Settings& settings)
{
    const auto& text = settings.text("row-time");
    if (to_real(text)) return settings.real("row-time", 0);
    if (!std::filesystem::exists(text))
        settings.refuse("row-time", ": give seconds a row, or a trace to take them from");
    std::vector<double> times;
    for (const auto& arrival : trace::read(text).arrivals)
        if (arrival.samples > 0)
            times.push_back(arrival.compute / static_cast<double>(arrival.samples));
    if (times.empty())
        settings.refuse("row-time", ", whose trace lists no contributions: give another one");
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

Arrivals arrivals_of(const Settings& settings, std::int64_t expected, bool dry)
{
    constexpr std::int64_t many = 1'000'000;  // writing them would take longer than the dry run
    if (!settings.on("trace-arrivals"))
        return dry && expected > many ? Arrivals::none : Arrivals::all;
    const auto& word = settings.one_of("trace-arrivals", {"all", "used", "none"});
    return word == "all" ? Arrivals::all : word == "used" ? Arrivals::used : Arrivals::none;
}

// What the run can be given again.
std::string configuration(const Settings& settings, bool dry)
{
    auto used = without_unused_options(settings);
    if (dry)
        for (const auto* name : options_of_data) used.set(name, {});
    return used.ini();
}

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
    header.real = {{"l2", training.l2}, {"row_time", training.row_time}};
    header.integer = {{"seed", static_cast<std::int64_t>(training.seed)},
                      {"workers", training.workers},
                      {"rows", training.rows},
                      {"test_rows", training.data ? training.data->rows(Split::test) : 0},
                      {"columns", training.columns},
                      {"rounds", training.engine.rounds}};
    return header;
}

void print_configuration(const Settings& settings, const Training& training)
{
    if (training.data) {
        fmt::print("data       {}: {} x {} training rows, {} test rows\n", settings.text("data"),
                   training.rows, training.columns, training.data->rows(Split::test));
        fmt::print("objective  {}, l2 {:.9g}\n", settings.text("model"), training.l2);
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
               settings.text("step"), settings.text("rounds"), settings.text("init"));
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
trace::Evaluation score(const Training& training, const Evaluate& evaluate, trace::Writer& trace,
                        const std::vector<double>& times)
{
    constexpr std::size_t batch_bytes = 4 << 20;
    const auto width = static_cast<std::size_t>(training.width());
    const auto batch = std::max<std::size_t>(1, batch_bytes / (width * sizeof(double)));
    const auto rounds = trace.iterate_rounds();
    std::int64_t next = 0;
    std::vector<double> penalties;
    const auto models = [&] {
        std::vector<Point> some;
        for (; some.size() < batch && next < trace.iterates(); ++next) {
            some.push_back(trace.iterate(next));
            double square = 0;
            for (const double w : *some.back()) square += w * w;
            penalties.push_back(training.l2 * square);
        }
        return some;
    };
    std::size_t scored = 0;
    trace::Evaluation row{};
    evaluate(models, [&](double train_loss, const Quality& test) {
        const auto round = rounds.at(scored);
        row = {.round = round,
               .model = 0,
               .time = times.at(static_cast<std::size_t>(round - 1)),
               .train_loss = train_loss,
               .objective = train_loss + penalties.at(scored),
               .test_loss = test.loss,
               .accuracy = test.accuracy,
               .auc = test.auc,
               .precision = test.precision,
               .recall = test.recall,
               .f1 = test.f1};
        trace.add(row);
        ++scored;
    });
    return row;
}

}  // namespace

std::vector<Option> training_options()
{
    std::vector<Option> all = {
        {"data", "FILE", "", "data set, from 'quorate import' or 'quorate generate'"},
        {"trace", "FILE", "trace.h5", "where the trace goes; a trace that is there is replaced"},
        {"workers", "N", "", "workers; default: one for each rank but the coordinator's"},
        {"scheme", "NAME", "uncoded",
         "who computes what and when to stop waiting; see quorate list schemes"},
        {"model", "NAME", "logistic", "what is trained; see quorate list models"},
        {"optimizer", "NAME", "gd", "update rule; see quorate list optimizers"},
        {"step", "ETA", "1", "step size"},
        {"l2", "A|1/n", "1/n",
         "the objective is the mean loss + A |w|^2; 1/n: one over the training rows"},
        {"rounds", "N", "100", "model updates"},
        {"init", "zero|normal:SD|FILE", "zero", "initial model; FILE: the final one of a trace"},
        {"seed", "N", "0", "key of all random streams"},
        {"delay", "MODEL", "none",
         "seconds each worker waits before a task, NAME or NAME:NUMBERS; see quorate list delays"},
        {"slowdown", "MODEL", "none",
         "factor of each worker's computing time, drawn from the same models as --delay; below 1 "
         "it "
         "needs --row-time"},
        {"row-time", "SECONDS|FILE", "0",
         "seconds that a worker takes for each row at least; FILE: as in that trace"},
        liars_option(),
        {"evaluate-every", "N", "1",
         "score the model of every N-th round, and the last, after the run; 0: none"},
        {"trace-arrivals", "all|used|none", "",
         "contributions that the trace lists; default: all, but none if a dry run has a million"},
        {"log", "workers", "", "print a line for each contribution, as its worker measured it"},
    };
    for (auto& option : component_options()) all.push_back(std::move(option));
    return all;
}

Training build_training(const Settings& settings, int default_workers,
                        const std::optional<DrySize>& dry)
{
    refuse_unused_options(settings);
    Training training{};
    if (!dry) {
        if (!settings.on("data"))
            throw BadInput(
                "quorate run needs --data FILE: make one with 'quorate import' or 'quorate "
                "generate'");
        training.data.emplace(settings.text("data"));
    }
    training.rows = dry ? dry->rows : training.data->rows(Split::train);
    training.columns = dry ? dry->columns : training.data->columns();
    training.workers =
        settings.on("workers")
            ? static_cast<int>(settings.integer("workers", 1, std::numeric_limits<int>::max()))
            : default_workers;
    const auto n = training.workers;
    if (n > training.rows)
        throw BadInput(fmt::format(
            "{} has {} training rows, too few for {} workers: use --workers {} or fewer",
            dry ? "the dry run" : training.data->path(), training.rows, n, training.rows));
    training.seed = static_cast<std::uint64_t>(settings.integer("seed", 0));
    training.scheme =
        chosen(schemes(), settings, "scheme").make(settings, {n, training.rows, training.seed});
    if (!dry) training.model = chosen(models(), settings, "model").make(settings);
    const auto delay_model = [&](const DelaySetup& setup) {
        return chosen(delays(), settings, setup.option).make(settings, setup);
    };
    training.delays =
        delay_model({.seed = training.seed, .machines = n, .read_times = trace::read_times});
    training.slowdowns = delay_model({.option = "slowdown",
                                      .neutral = 1,
                                      .purpose = Purpose::slowdown,
                                      .seed = training.seed,
                                      .machines = n,
                                      .read_times = trace::read_times});
    training.row_time = row_time_of(settings);
    training.liars = liars(settings, training.seed, n);
    training.needs = training.scheme->needs();
    training.l2 = dry ? 0 : l2_of(settings, *training.data);
    const auto rounds = settings.integer("rounds", 1);
    training.engine = {.rounds = rounds,
                       .step = settings.real("step", 0),
                       .evaluate_every = dry ? 0 : settings.integer("evaluate-every", 0),
                       .arrivals = arrivals_of(settings, rounds * n, dry.has_value()),
                       .seed = training.seed};
    return training;
}

std::unique_ptr<Optimizer> build_optimizer(const Settings& settings, const Training& training)
{
    if (settings.on("log")) settings.one_of("log", {"workers"});
    check_output(settings, "trace", "trace");
    return chosen(optimizers(), settings, "optimizer")
        .make(settings, initial_model(settings, training.seed, training.width()), training.l2);
}

int train(const Settings& settings, const Training& training, Fleet& fleet, Optimizer& optimizer,
          const std::string& clock, const Evaluate& evaluate)
{
    const bool quiet = settings.on("quiet");
    const auto& path = settings.text("trace");
    if (!quiet) print_configuration(settings, training);
    if (const auto warning = training.scheme->warning(); !warning.empty())
        fmt::print(stderr, "quorate: warning: {}\n", warning);
    trace::Writer trace(path, header(settings, training, clock), training.width());
    for (const auto& worker : fleet.workers())
        trace.add(trace::WorkerRow{worker.rank, worker.rows, worker.columns});

    ProgressLine line(training.engine.rounds, training.data.has_value(), quiet);
    std::vector<double> times;
    Observer observer;
    observer.round = [&](const Progress& progress) {
        times.push_back(progress.time);
        line.show(progress);
    };
    if (settings.on("log")) observer.arrival = print_arrival;
    Engine engine(training.engine, *training.scheme, fleet, optimizer, trace);
    const auto done = engine.run(stop_asked(), std::move(observer));
    line.finish();

    const bool completed = done == training.engine.rounds;
    trace.pause();
    trace::Evaluation last{};
    if (completed && trace.iterates() > 0) last = score(training, evaluate, trace, times);
    trace.finish(optimizer.model(), completed ? "completed" : "interrupted");
    if (!completed) {
        fmt::print(stderr, "quorate: interrupted after round {} of {}; {} holds what was done\n",
                   done, training.engine.rounds, path);
        return exit_run_again;
    }
    if (!quiet) {
        fmt::print("{}: {} rounds in {:.3f} s, {:.6f} s a round\n", path, done, times.back(),
                   times.back() / static_cast<double>(done));
        if (last.round > 0)
            fmt::print("round {}: training loss {:.4f}, test loss {:.4f}, AUC {:.4f}\n", last.round,
                       last.train_loss, last.test_loss, last.auc);
    }
    return exit_done;
}

}  // namespace quorate
