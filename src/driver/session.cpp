// SPDX-License-Identifier: BSD-2-Clause
#include "driver/session.hpp"

#include <fmt/format.h>
#include <petscsys.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "base/host.hpp"
#include "data/petsc.hpp"
#include "driver/launch.hpp"
#include "driver/supervisor.hpp"
#include "mpi/backoff.hpp"
#include "mpi/mpi.hpp"

namespace quorate {

namespace {

// What start_mpi() has begun, and not the program that calls it.
bool our_mpi = false, our_petsc = false;

constexpr int longest_end = 10;  // seconds

// What a rank that cannot wait any longer needs; its signal handler may not ask for it.
int status_at_end = 0;
int launcher_socket = -1;  // that Hydra's PMI listens on
std::string too_late;      // what the rank says then

void write_all(int file, std::string_view text)
{
    // Nothing can be done about what is not written.
    [[maybe_unused]] const auto written = write(file, text.data(), text.size());
}

/// Ends the process without MPI_Finalize. Calls only what a signal handler may.
[[noreturn]] void leave(int status)
{
    tell_hydra_of_end(launcher_socket);
    _exit(status);
}

void give_up(int)
{
    write_all(STDERR_FILENO, too_late);
    leave(status_at_end);
}

void set_alarm(int seconds)
{
    const itimerval at{{0, 0}, {seconds, 0}};
    setitimer(ITIMER_REAL, &at, nullptr);
}

/// Whether MPI_Finalize may wait for ever. UCX ends a connection when the peer has answered, but in MPICH before 4.2
/// peers that are done block in PMI and answer no more (github.com/pmodels/mpich/pull/6596).
bool finalize_hangs()
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string library(text, static_cast<std::size_t>(length));
    int major = 0, minor = 0;
    return library.find("ch4:ucx") != std::string::npos &&
           // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): it says how many
           std::sscanf(library.c_str(), "MPICH Version: %d.%d", &major, &minor) == 2 &&
           (major < 4 || (major == 4 && minor < 2));
}

struct Process {
    std::int64_t id = getpid();
    char host[256] = {};
};

// Without spinning, unlike MPI_Wait.
void complete(MPI_Request request)
{
    Backoff backoff(1e-3);
    for (int done = 0;;) {
        mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done) return;
        backoff.wait();
    }
}

/// Until all ranks are here. @return the process of rank 0
Process meet()
{
    Process first;
    host_name().copy(first.host, sizeof first.host - 1);
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(MPI_Ibcast(&first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD, &request),
               "MPI_Ibcast");
    complete(request);
    mpi::check(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
    complete(request);
    return first;
}

/// Hydra that was told to stop loses the status of the process that ends last on its host: that is not to be
/// rank 0.
void let_go_first(const Process& first)
{
    constexpr Seconds longest = 1;
    if (first.id != getpid() && host_name() == first.host)
        outlive(static_cast<pid_t>(first.id), longest);
}

}  // namespace

void start_mpi()
{
    const std::lock_guard lock(libraries());
    PetscBool started = PETSC_FALSE;
    petsc::check(PetscInitialized(&started), "PetscInitialized");
    if (started) return;
    int provided = 0, begun = 0;
    MPI_Initialized(&begun);
    our_mpi = begun == 0;
    // Simulations of several threads use PETSc in turn, and so MPI.
    if (our_mpi)
        mpi::check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided),
                   "MPI_Init_thread");
    PETSC_COMM_WORLD = MPI_COMM_SELF;
    std::string program = "quorate", no_file = "-skip_petscrc";
    char* arguments[] = {program.data(), no_file.data(), nullptr};
    int count = 2;
    char** list = arguments;
    petsc::check(PetscInitialize(&count, &list, nullptr, nullptr), "PetscInitialize");
    petsc::check(PetscPopSignalHandler(), "PetscPopSignalHandler");
    our_petsc = true;
}

int end_mpi(int status)
{
    int started = 0, ended = 0, rank = 0, size = 1;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (started && !ended && !our_mpi && std::exchange(our_petsc, false)) PetscFinalize();
    if (!started || ended || !our_mpi) return status;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    status_at_end = status;
    launcher_socket = hydra_socket();
    too_late =
        fmt::format("quorate[rank {} of {}]: MPI has not ended within {} s: leaving without it\n",
                    rank, size, longest_end);
    std::fflush(nullptr);
    std::signal(SIGALRM, give_up);
    set_alarm(longest_end);
    PetscFinalize();
    const auto first = size > 1 ? meet() : Process();
    if (size > 1 && finalize_hangs()) {
        let_go_first(first);
        leave(status);
    }
    MPI_Finalize();
    let_go_first(first);
    set_alarm(0);
    return status;
}

}  // namespace quorate
