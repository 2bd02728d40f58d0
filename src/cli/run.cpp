// SPDX-License-Identifier: BSD-2-Clause
// quorate run: one run, under mpiexec or srun.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "cli/components.hpp"
#include "cli/initial.hpp"
#include "cli/launch.hpp"
#include "cli/progress.hpp"
#include "fleet/mpi_fleet.hpp"
#include "fleet/mpi_worker.hpp"

namespace quorate {

namespace {

std::atomic<bool> stop_asked = false;

// The coordinator ends the run in order; a second signal ends the process.
void ask_to_stop(int) { stop_asked = true; }

void listen_for_signals(bool coordinator)
{
    struct sigaction action {};
    action.sa_handler =
        coordinator ? ask_to_stop : SIG_IGN;  // workers stop when the coordinator says so
    action.sa_flags = SA_RESETHAND * coordinator;
    for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

std::vector<Option> options()
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
         "injected delays, NAME or NAME:SECONDS; see quorate list delays"},
        {"evaluate-every", "N", "1",
         "score the model of every N-th round, and the last, after the run; 0: none"},
        {"log", "workers", "", "print a line for each contribution, as its worker measured it"},
    };
    for (auto& option : component_options()) all.push_back(std::move(option));
    return all;
}

/// Everything that the ranks of a run build alike from its options.
struct Run {
    DataSet data;
    int workers;
    std::uint64_t seed;
    std::unique_ptr<Scheme> scheme;
    std::unique_ptr<Model> model;
    std::unique_ptr<DelayModel> delays;
    Needs needs;
};

Run build(const Settings& settings, int ranks)
{
    if (!settings.on("data"))
        throw BadInput(
            "quorate run needs --data FILE: make one with 'quorate import' or 'quorate generate'");
    refuse_unused_options(settings);
    Run run{DataSet(settings.text("data")), ranks - 1, 0, nullptr, nullptr, nullptr, {}};
    if (settings.on("workers")) {
        run.workers =
            static_cast<int>(settings.integer("workers", 1, std::numeric_limits<int>::max()));
        if (run.workers > ranks - 1)
            settings.refuse(
                "workers",
                fmt::format(", but {} ranks make a coordinator and {} workers: start {} ranks",
                            ranks, ranks - 1, run.workers + 1));
    }
    if (run.workers > run.data.rows(Split::train))
        throw BadInput(fmt::format(
            "{} has {} training rows, too few for {} workers: use --workers {} or fewer",
            run.data.path(), run.data.rows(Split::train), run.workers,
            run.data.rows(Split::train)));
    run.seed = static_cast<std::uint64_t>(settings.integer("seed", 0));
    run.scheme = chosen(schemes(), settings, "scheme")
                     .make(settings, {run.workers, run.data.rows(Split::train), run.seed});
    run.model = chosen(models(), settings, "model").make(settings);
    run.delays = chosen(delays(), settings, "delay")
                     .make(settings, {.seed = run.seed, .machines = run.workers});
    run.needs = run.scheme->needs();
    return run;
}

double l2_of(const Settings& settings, const DataSet& data)
{
    if (settings.text("l2") == "1/n") return 1.0 / static_cast<double>(data.rows(Split::train));
    if (!to_real(settings.text("l2")))
        settings.refuse("l2", ": give a number of at least 0, or 1/n");
    return settings.real("l2", 0);
}

// Replaces only what is a trace: a data set given by mistake must survive.
void check_trace_path(const Settings& settings)
{
    const auto& path = settings.text("trace");
    if (path.empty()) settings.refuse("trace", ": give a file");
    check_writable(path, "trace");
    std::error_code error;
    if (!std::filesystem::exists(path, error) || std::filesystem::is_empty(path, error)) return;
    bool is_trace = false;
    try {
        const auto file = h5::open(path);
        is_trace = h5::has_attribute(file.get(), "format") &&
                   h5::read_string(file.get(), "format") == "quorate trace";
    } catch (const BadInput&) {
    }
    if (!is_trace)
        settings.refuse("trace",
                        ", which exists and is not a trace: remove it or give another name");
}

trace::Header header(const Settings& settings, const Run& run, double l2)
{
    const auto environment = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value ? value : "");
    };
    trace::Header header;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    header.text = {{"quorate_version", version},
                   {"git_revision", git_revision},
                   {"command_line", settings.command_line},
                   {"config", settings.ini()},
                   {"host", host},
                   {"cluster", environment("SLURM_CLUSTER_NAME")},
                   {"scheduler_job_id", environment("SLURM_JOB_ID")},
                   {"libraries", build_info},
                   {"clock", "wall"},
                   {"data", run.data.name()},
                   {"scheme", settings.text("scheme")},
                   {"model", settings.text("model")},
                   {"optimizer", settings.text("optimizer")},
                   {"delay", settings.text("delay")}};
    header.real = {{"l2", l2}};
    header.integer = {{"seed", static_cast<std::int64_t>(run.seed)},
                      {"workers", run.workers},
                      {"rows", run.data.rows(Split::train)},
                      {"test_rows", run.data.rows(Split::test)},
                      {"columns", run.data.columns()},
                      {"rounds", settings.integer("rounds", 1)}};
    return header;
}

void print_configuration(const Settings& settings, const Run& run, double l2)
{
    fmt::print("data       {}: {} x {} training rows, {} test rows\n", settings.text("data"),
               run.data.rows(Split::train), run.data.columns(), run.data.rows(Split::test));
    fmt::print("objective  {}, l2 {:.9g}\n", settings.text("model"), l2);
    std::string scheme = settings.text("scheme");
    for (const auto& option : chosen(schemes(), settings, "scheme").options)
        if (settings.on(option.name))
            scheme += fmt::format(" --{} {}", option.name, settings.text(option.name));
    fmt::print("scheme     {}, {} workers, delay {}, seed {}\n", scheme, run.workers,
               settings.text("delay"), run.seed);
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
trace::Evaluation evaluate(const Run& run, MpiFleet& fleet, trace::Writer& trace,
                           const std::vector<double>& times, double l2)
{
    constexpr std::size_t batch_bytes = 4 << 20;
    const auto width = static_cast<std::size_t>(run.model->parameters(run.data.columns()));
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
            penalties.push_back(l2 * square);
        }
        return some;
    };
    std::size_t scored = 0;
    trace::Evaluation row{};
    fleet.evaluate(run.data, *run.model, models, [&](double train_loss, const Quality& test) {
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

int coordinate(const Settings& settings, const Run& run, const mpi::Comm& comm, Doorbells& bells,
               Optimizer& optimizer, double l2)
{
    const bool quiet = settings.on("quiet");
    const auto& path = settings.text("trace");
    const EngineOptions engine_options{.rounds = settings.integer("rounds", 1),
                                       .step = settings.real("step", 0),
                                       .evaluate_every = settings.integer("evaluate-every", 0)};
    if (!quiet) print_configuration(settings, run, l2);
    MpiFleet fleet(comm, run.workers, run.data.columns(), bells);
    trace::Writer trace(path, header(settings, run, l2), run.model->parameters(run.data.columns()));
    for (const auto& worker : fleet.workers())
        trace.add(trace::WorkerRow{worker.rank, worker.rows, worker.columns});

    ProgressLine line(engine_options.rounds, quiet);
    std::vector<double> times;
    Observer observer;
    observer.round = [&](const Progress& progress) {
        times.push_back(progress.time);
        line.show(progress);
    };
    if (settings.on("log")) observer.arrival = print_arrival;
    Engine engine(engine_options, *run.scheme, fleet, optimizer, trace);
    const auto done = engine.run(stop_asked, std::move(observer));
    line.finish();

    const bool completed = done == engine_options.rounds;
    trace.pause();
    trace::Evaluation last{};
    if (completed && trace.iterates() > 0) last = evaluate(run, fleet, trace, times, l2);
    trace.finish(optimizer.model(), completed ? "completed" : "interrupted");
    fleet.finish();

    const double time = times.empty() ? 0 : times.back();
    if (!completed) {
        fmt::print(stderr, "quorate: interrupted after round {} of {}; {} holds what was done\n",
                   done, engine_options.rounds, path);
        return exit_run_again;
    }
    if (!quiet) {
        fmt::print("{}: {} rounds in {:.3f} s, {:.6f} s a round\n", path, done, time,
                   time / static_cast<double>(done));
        if (last.round > 0)
            fmt::print("round {}: training loss {:.4f}, test loss {:.4f}, AUC {:.4f}\n", last.round,
                       last.train_loss, last.test_loss, last.auc);
    }
    return exit_done;
}

/// The first message: what the coordinator found when it checked all that can be wrong.
struct Verdict {
    DoorbellAddress bells;
    std::int64_t status;
};

int tell_verdict(const mpi::Comm& comm, const Doorbells& bells, int status)
{
    mpi::Pool pool;
    Patience patience(1e-3);
    std::vector<mpi::Transfer> sends;
    for (int rank = 1; rank < comm.size(); ++rank)
        sends.push_back(mpi::send(comm, rank, mpi::Tag::verdict,
                                  encode_values(pool, Verdict{bells.address(), status})));
    for (auto& send : sends)
        while (!send.done()) patience.rest();
    return status;
}

mpi::Transfer wait_for_coordinator(const mpi::Comm& comm)
{
    mpi::Pool pool;
    Patience patience(1e-3);
    for (;;) {
        if (auto mail = mpi::receive(comm, 0, pool)) {
            while (!mail->done()) patience.rest();
            return std::move(*mail);
        }
        patience.rest();
    }
}

int lead(const Settings& settings, const mpi::Comm& comm)
{
    std::optional<Run> run;
    std::unique_ptr<Optimizer> optimizer;
    double l2 = 0;
    Doorbells bells(comm.size());
    try {
        check_world(comm.size());
        run.emplace(build(settings, comm.size()));
        settings.real("step", 0);
        settings.integer("rounds", 1);
        settings.integer("evaluate-every", 0);
        if (settings.on("log")) settings.one_of("log", {"workers"});
        l2 = l2_of(settings, run->data);
        check_trace_path(settings);
        const auto width = run->model->parameters(run->data.columns());
        optimizer = chosen(optimizers(), settings, "optimizer")
                        .make(settings, initial_model(settings, run->seed, width), l2);
    } catch (const BadInput& wrong) {
        // Under a foreign launcher every rank leads a world of its own; one message is enough.
        if (launch_environment().rank.value_or(0) == 0)
            fmt::print(stderr, "quorate: {}\n", wrong.what());
        return tell_verdict(comm, bells, exit_bad_input);
    }
    tell_verdict(comm, bells, exit_done);
    const int status = coordinate(settings, *run, comm, bells, *optimizer, l2);
    // Standby ranks slept until now: MPI_Finalize would have made them spin.
    mpi::Pool pool;
    Patience patience(1e-3);
    for (int rank = run->workers + 1; rank < comm.size(); ++rank) {
        auto stop = mpi::send(comm, rank, mpi::Tag::stop, encode_values(pool));
        while (!stop.done()) patience.rest();
    }
    return status;
}

int follow(const Settings& settings, const mpi::Comm& comm)
{
    const auto mail = wait_for_coordinator(comm);
    const auto verdict = Reader(*mail.bytes).get<Verdict>();
    if (verdict.status != exit_done) return static_cast<int>(verdict.status);
    const auto run = build(settings, comm.size());
    const Worker worker = comm.rank() - 1;
    Doorbells bells(verdict.bells, comm.rank(), comm.size());
    if (worker < run.workers)
        MpiWorker(comm, worker, run.data, *run.model, *run.delays, run.needs, bells).run();
    else
        wait_for_coordinator(comm);
    return exit_done;
}

int run(const Settings& settings)
{
    const Session session;
    const mpi::Comm comm(MPI_COMM_WORLD);
    listen_for_signals(comm.rank() == 0);
    return comm.rank() == 0 ? lead(settings, comm) : follow(settings, comm);
}

}  // namespace

Command run_command()
{
    return {"run", "train a model; start it with mpiexec or srun", "", options(), run};
}

}  // namespace quorate
