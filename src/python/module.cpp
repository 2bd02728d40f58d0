// SPDX-License-Identifier: BSD-2-Clause
// The module quorate._quorate: the library's front as Python sees it. The package in
// analysis/quorate/ makes of it what users call.
#include <hdf5.h>
#include <omp.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/streams.hpp"
#include "cli/command.hpp"
#include "cli/parse.hpp"
#include "commands/options.hpp"
#include "commands/run.hpp"
#include "commands/simulation.hpp"
#include "doctor/look.hpp"
#include "engine/scheme_check.hpp"
#include "jobs/share.hpp"
#include "parts/plugins.hpp"
#include "process/session.hpp"
#include "process/stop.hpp"
#include "python/components.hpp"
#include "python/data.hpp"
#include "python/language.hpp"
#include "python/object.hpp"
#include "python/running.hpp"
#include "python/sample_model.hpp"
#include "python/text.hpp"
#include "python/trace.hpp"
#include "scheme/scheme.hpp"
#include "study/advice.hpp"
#include "transport/mpi.hpp"

namespace py = pybind11;

namespace quorate::bindings {

namespace {

using trace::Trace;

using Texts = std::vector<Text>;

// Options as Python gives them.
using Given = std::map<std::string, Text>;

Options plain(const Given& options) { return {options.begin(), options.end()}; }

Stop* stopped_by_signal = nullptr;
struct sigaction before_signal {};

// Stops the run, and lets Python know of the signal too.
void on_interrupt(int signal)
{
    if (before_signal.sa_handler == SIG_IGN) return;
    if (stopped_by_signal) *stopped_by_signal = true;
    if (before_signal.sa_handler != SIG_DFL) before_signal.sa_handler(signal);
}

// While it lives, Ctrl-C stops a run on Python's main thread, and OpenMP's settings may change.
class Interruptible {
public:
    explicit Interruptible(Stop& stop)
        : stop_(stop), threads_(omp_get_max_threads()),
          is_main_(PyThread_get_thread_ident() == py::module_::import("threading")
                                                      .attr("main_thread")()
                                                      .attr("ident")
                                                      .cast<unsigned long>() &&
                   stopped_by_signal == nullptr)
    {
        runs.add(&stop_);
        if (!is_main_) return;
        stopped_by_signal = &stop;
        struct sigaction action {};
        action.sa_handler = on_interrupt;
        sigaction(SIGINT, &action, &before_signal);
    }
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;
    ~Interruptible()
    {
        runs.remove(&stop_);
        omp_set_num_threads(threads_);
        if (!is_main_) return;
        sigaction(SIGINT, &before_signal, nullptr);
        stopped_by_signal = nullptr;
    }

private:
    Stop& stop_;
    int threads_;
    bool is_main_;
};

pid_t owner_of_mpi = 0;  // the process that uses MPI; 0: none does

// Ends MPI with the interpreter. Of all hooks at the end only glibc's knows the status, which
// the process may end with in here.
void end_at_exit(int status, void*)
{
    if (owner_of_mpi == getpid()) end_mpi(status);
}

// Refuses to use MPI in a process where that cannot work. @throws BadInput
void check_process()
{
    if (owner_of_mpi != 0 && owner_of_mpi != getpid())
        throw BadInput(
            "this process was forked after MPI began: use threads, or multiprocessing's spawn");
    if (owner_of_mpi == 0) on_exit(end_at_exit, nullptr);
    owner_of_mpi = getpid();
}

bool needs_mpi(const Given& options)
{
    const auto dry = options.find("dry");
    return dry == options.end() || dry->second != "on";
}

// Calls a function with the round, after a second and then at most four times a second.
Watch watch_of(const py::object& shown)
{
    Watch watch;
    if (shown.is_none()) return watch;
    const auto function = std::make_shared<Object>(shown);
    using Clock = std::chrono::steady_clock;
    const auto next = std::make_shared<Clock::time_point>(Clock::now() + std::chrono::seconds(1));
    watch.engine.round = [function, next](const Progress& progress) {
        if (Clock::now() < *next) return;
        *next = Clock::now() + std::chrono::milliseconds(250);
        const py::gil_scoped_acquire gil;
        function->get()(progress.round);
    };
    return watch;
}

std::shared_ptr<Trace> simulate_here(const Given& options, const std::shared_ptr<Stop>& stop,
                                     const py::object& shown)
{
    auto watch = watch_of(shown);
    if (needs_mpi(options)) check_process();
    std::shared_ptr<Trace> trace;
    {
        const Interruptible interruptible(*stop);
        const py::gil_scoped_release release;
        const Running running;
        trace = std::make_shared<Trace>(
            simulate(make_settings(simulation_options(), plain(options)), *stop, std::move(watch)));
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    return trace;
}

std::shared_ptr<Trace> run_here(const Given& options)
{
    check_process();
    const int threads = omp_get_max_threads();
    std::shared_ptr<Trace> trace;
    {
        const py::gil_scoped_release release;
        const Running running;
        if (auto made = run_in_memory(make_settings(run_options(), plain(options))))
            trace = std::make_shared<Trace>(std::move(*made));
    }
    omp_set_num_threads(threads);
    return trace;
}

std::pair<int, int> rank_and_size()
{
    int started = 0, ended = 0, rank = 0, size = 1;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (started && !ended) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
    return {rank, size};
}

// The last message of this thread: some commands log what is wrong, and return a status.
std::string& last_message()
{
    thread_local std::string message;
    return message;
}

// What is printed to stdout while it lives, by C++ and for all threads.
class Captured {
public:
    Captured() : file_(std::tmpfile()), before_(dup(STDOUT_FILENO))
    {
        if (!file_ || before_ < 0) throw Failure("stdout cannot be redirected");
        std::fflush(stdout);
        dup2(fileno(file_), STDOUT_FILENO);
    }
    Captured(const Captured&) = delete;
    Captured& operator=(const Captured&) = delete;
    ~Captured()
    {
        restore();
        std::fclose(file_);
    }
    std::string text()
    {
        write_results();
        restore();
        std::string all(static_cast<std::size_t>(std::ftell(file_)), ' ');
        std::fseek(file_, 0, SEEK_SET);
        all.resize(std::fread(all.data(), 1, all.size(), file_));
        return all;
    }

private:
    void restore()
    {
        if (before_ < 0) return;
        std::fflush(stdout);
        dup2(before_, STDOUT_FILENO);
        close(before_);
        before_ = -1;
        std::fseek(file_, 0, SEEK_END);
    }

    std::FILE* file_;
    int before_;
};

// Runs a command, and then gives the process the signal that has stopped it, if one has.
// @return the command's exit status
int run_and_pass_on(const Command& command, const Settings& settings)
{
    int status = exit_done, signal = 0;
    {
        const SignalsKept kept;
        status = command.name == "run" ? run_and_return(settings) : command.run(settings);
        signal = kept.asked_by();
    }
    if (signal != 0) std::raise(signal);
    return status;
}

// Runs a command as the program does, but throws its errors. @return what it printed
Text command_here(const std::string& name, const Texts& words)
{
    check_process();
    Text printed;
    int status = exit_done;
    {
        const py::gil_scoped_release release;
        const Running running;
        const auto command = command_named(name);
        auto settings = parse(command, {words.begin(), words.end()});
        settings.command_line = "quorate " + name;
        // stdout is the process's.
        static std::mutex one_at_a_time;
        const std::lock_guard alone(one_at_a_time);
        Captured captured;
        last_message().clear();
        status = run_and_pass_on(command, settings);
        printed = captured.text();
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (status == exit_bad_input) throw BadInput(last_message());
    if (status != exit_done) throw Failure(last_message());
    return printed;
}

// Returns the ranking of `quorate advise`: for each candidate its scheme, its options, seconds to
// the target by seed, half of their interval or none, seconds a round, rounds, the closed form or
// none, how often it was the fastest, the least weight of a row or none, the share of rows that
// hardly ever count or none, why it is not recommended, and whether it is the best.
// @param shown  called with simulations done and their number, with the lock; or None
py::list advise_here(const Given& options, const py::object& shown)
{
    if (options.contains("data")) check_process();
    Advice advice;
    {
        AdviceProgress progress;
        if (!shown.is_none())
            progress = [&](std::size_t done, std::size_t all_of_them) {
                const py::gil_scoped_acquire gil;
                shown(done, all_of_them);
            };
        const py::gil_scoped_release release;
        const Running running;
        const auto settings = make_settings(advice_options(), plain(options));
        if (settings.on("data")) start_mpi();
        advice = advise(settings, progress);
    }
    py::list all;
    for (std::size_t i = 0; i < advice.ranked.size(); ++i) {
        const auto& one = advice.ranked[i];
        all.append(py::make_tuple(one.candidate.scheme, one.candidate.options, one.seconds,
                                  advice.half_interval(one), one.round_seconds, one.rounds,
                                  one.closed, advice.fastest[i],
                                  one.use ? py::object(py::float_(one.use->least)) : py::none(),
                                  one.use ? py::object(py::float_(one.use->rarely)) : py::none(),
                                  advice.doubt(one), i == advice.best));
    }
    return all;
}

// Runs a scheme against workers that finish in random orders. @return which promises it breaks
std::vector<std::string> check_scheme(const Given& options, std::int64_t rounds)
{
    const py::gil_scoped_release release;
    const Running running;
    const auto settings = make_settings(simulation_options(), plain(options));
    const auto workers = static_cast<int>(settings.integer("workers", 1, 1000));
    for (unsigned seed = 1; seed <= 3; ++seed) {
        const auto scheme = chosen(schemes(), settings, "scheme")
                                .make(settings, {workers, std::int64_t{100} * workers, seed});
        SchemeCheck run(*scheme, seed);
        run.run(rounds);
        if (!run.undecodable.empty()) run.broken.push_back("it gives up: " + run.undecodable);
        if (!run.broken.empty()) return run.broken;
    }
    return {};
}

// Returns the options of a command, as (name, argument, default, text). Those of components that
// were added later are among them.
py::list options_of(const std::string& name)
{
    py::list all;
    for (const auto& option : command_named(name).options)
        all.append(py::make_tuple(option.name, option.argument, option.fallback, option.text));
    return all;
}

void log_to_python(const std::optional<py::function>& function)
{
    if (!function) {
        log_to({});
        return;
    }
    // Never freed: messages may come until the process ends.
    auto* const to = new py::function(*function);
    log_to([to](LogLevel level, const std::string& text) {
        last_message() = text;
        if (Py_IsInitialized() == 0) return;
        const py::gil_scoped_acquire gil;
        try {
            (*to)(static_cast<int>(level), shown(text));
        } catch (py::error_already_set& error) {
            error.discard_as_unraisable("quorate's log");
        }
    });
}

// As py::register_exception() does, but shows messages that quote what is no UTF-8.
template <class Error>
py::object add_exception(py::module_& module, const char* name, const py::handle& base)
{
    static const auto& type = *new py::exception<Error>(module, name, base);
    py::register_exception_translator([](std::exception_ptr thrown) {
        try {
            if (thrown) std::rethrow_exception(std::move(thrown));
        } catch (const Error& error) {
            PyErr_SetObject(type.ptr(), shown(error.what()).ptr());
        }
    });
    return type;
}

void load_python_plugins_with(const py::function& function)
{
    auto* const load = new py::function(function);
    python_plugins([load](const std::string& path) {
        const py::gil_scoped_acquire gil;
        (*load)(Text(path));
    });
}

void ask_python_of_torch(const py::function& function)
{
    auto* const look = new py::function(function);
    look_at_torch_with([look] {
        const py::gil_scoped_acquire gil;
        return (*look)().cast<std::string>();
    });
}

}  // namespace

}  // namespace quorate::bindings

PYBIND11_MODULE(_quorate, module)
{
    using namespace quorate;
    using namespace quorate::bindings;
    // As the program does: see cli/program.cpp.
    open_standard_streams();
    H5dont_atexit();
    H5open();

    const auto bad_input = add_exception<BadInput>(module, "BadInput", PyExc_ValueError);
    add_exception<RefusedRun>(module, "RefusedRun", bad_input);
    add_exception<Failure>(module, "Failure", PyExc_RuntimeError);
    add_exception<mpi::Error>(module, "MpiError", PyExc_RuntimeError);

    add_language(module);
    add_trace(module);
    add_components(module);
    add_sample_models(module);
    add_data(module);

    py::class_<Stop, std::shared_ptr<Stop>>(module, "Stop")
        .def(py::init([] { return std::make_shared<Stop>(false); }))
        .def("set", [](Stop& stop) { stop = true; });
    module.def("simulate", &simulate_here, py::arg("options"), py::arg("stop"),
               py::arg("shown") = py::none());
    module.def("run", &run_here, py::arg("options"));
    module.def("command", &command_here);
    module.def("advise", &advise_here, py::arg("options"), py::arg("shown") = py::none());
    module.def("check_scheme", &check_scheme);
    module.def("options", &options_of, py::arg("command"));
    module.def("end_runs", [] {
        const py::gil_scoped_release release;
        runs.end(std::chrono::seconds(10));
    });
    module.def("start_mpi", [] {
        const py::gil_scoped_release release;
        start_mpi();
    });
    module.def("rank_and_size", &rank_and_size);
    module.def("abort", [](int status) {
        // As the program does: what was printed needs some time to leave before MPI ends all ranks.
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        MPI_Abort(MPI_COMM_WORLD, status);
    });
    module.def("program", [](const Texts& words) {
        const py::gil_scoped_release release;
        return program({words.begin(), words.end()});
    });
    module.def("run_as", [](const Text& command) { run_as(command); });
    module.def("log_to", &log_to_python);
    module.def("python_plugins", &load_python_plugins_with);
    module.def("look_at_torch_with", &ask_python_of_torch);
}
