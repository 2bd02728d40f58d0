// SPDX-License-Identifier: BSD-2-Clause
#include "process/supervisor.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "base/path.hpp"
#include "process/launch.hpp"
#include "transport/backoff.hpp"
#include "transport/clock.hpp"

namespace quorate {

namespace {

volatile pid_t child = 0;  // in the supervisor: the process that it waits for
pid_t supervisor = 0;      // in the child: the supervisor; 0: there is none
// What the child has said, in memory that both processes share.
struct Told {
    std::atomic<bool> started = false;  // it has called has_started()
    std::atomic<double> patience = 0;   // of leads(); 0: it has not called that
    char record[4096] = {};
};
Told* told = nullptr;

// The supervisor's signal handler: the launcher knows only the supervisor, but means the child.
void forward(int signal)
{
    if (child > 0) kill(child, signal);
}

}  // namespace

bool launched_by_hydra()
{
    // Of a child of the supervisor that of the supervisor, which ends with it.
    const auto launcher = find_process(launched_process()).parent;
    return find_process(launcher).name.starts_with("hydra");
}

std::vector<int> warning_signals()
{
    std::vector<int> all = {SIGTERM, SIGUSR2, SIGXCPU};
    if (!launched_by_hydra()) all.push_back(SIGUSR1);
    struct sigaction now {};
    if (sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) all.push_back(SIGHUP);
    return all;
}

pid_t launched_process() { return supervisor ? supervisor : getpid(); }

void outlive(pid_t process, double at_most)
{
    Backoff backoff(1e-2);
    const auto limit = clock_seconds() + at_most;
    while (!has_ended(process) && clock_seconds() < limit) backoff.wait();
}

void has_started()
{
    if (told) told->started = true;
}

void leads(const std::string& record, double patience)
{
    if (!told || record.size() >= sizeof told->record) return;
    record.copy(told->record, record.size());
    told->patience = patience;
}

namespace {

// Waits until another process has taken the place of the child. @return whether one has
bool is_succeeded()
{
    const auto now = [] { return contents_of(told->record).value_or(""); };
    const auto before = now();
    Backoff backoff(0.1);
    for (const auto limit = clock_seconds() + told->patience; clock_seconds() < limit;
         backoff.wait())
        if (now() != before) return true;
    return false;
}

}  // namespace

void choose_tcp()
{
    // When a peer dies during a transfer by shared memory, UCX (in MPICH) aborts the ranks that are
    // left or lets them wait for ever; Open MPI does likewise.
    setenv("UCX_TLS", "tcp,self", 0);
    setenv("OMPI_MCA_pml", "ob1", 0);
    setenv("OMPI_MCA_btl", "tcp,self", 0);
}

void supervise()
{
    choose_tcp();
    void* shared =
        mmap(nullptr, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        throw Failure(std::string("no supervisor process can be made: ") + std::strerror(errno));
    told = new (shared) Told;
    std::fflush(nullptr);
    const auto parent = getpid();
    child = fork();
    if (child < 0)
        throw Failure(std::string("no supervisor process can be made: ") + std::strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) std::_Exit(exit_failed);
        supervisor = parent;
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // no rank outlives its launcher
    std::signal(SIGINT, forward);
    if (launched_by_hydra()) std::signal(SIGUSR1, SIG_IGN);
    for (const int signal : warning_signals()) std::signal(signal, forward);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    // Resilient ranks never call MPI_Finalize, so Hydra is told here that this one ends. Otherwise
    // it would be a matter of luck what Hydra notices first: the end of the socket or the process.
    if (told->started) tell_hydra_of_end(hydra_socket());
    if (WIFEXITED(status)) std::_Exit(WEXITSTATUS(status));
    if (!told->started && launched_by_hydra()) kill(getppid(), SIGKILL);
    const int signal = WTERMSIG(status);
    const bool leads = launch_environment().rank.value_or(0) == 0 || told->patience > 0;
    const bool by_itself = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL ||
                           signal == SIGFPE || signal == SIGABRT;
    if (by_itself)
        log(LogLevel::error,
            fmt::format("a rank was ended by signal {}: report this as a bug", signal));
    // The run survives the death of a worker, and of a coordinator whose place is taken. A status
    // other than 0 would make the launcher end it.
    std::_Exit(told->started && (!leads || is_succeeded()) ? exit_done : exit_failed);
}

}  // namespace quorate
