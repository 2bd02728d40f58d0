// SPDX-License-Identifier: BSD-2-Clause
#include "process/session.hpp"

#include <fmt/format.h>
#include <petscsys.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/host.hpp"
#include "base/log.hpp"
#include "base/seconds.hpp"
#include "data/petsc.hpp"
#include "process/launch.hpp"
#include "process/supervisor.hpp"
#include "transport/mpi.hpp"

namespace quorate {

namespace {

// Whether start_mpi() has initialised these. Otherwise the program that uses Quorate has.
bool our_mpi = false, our_petsc = false;

constexpr int longest_end = 10;  // seconds that end_mpi() may take

// What give_up() needs. end_mpi() prepares it, because a signal handler must not compute it.
int status_at_end = 0;
int launcher_socket = -1;  // that Hydra's PMI listens on
std::string too_late;      // the message of give_up()

/// Ends the process without MPI_Finalize. Calls only what a signal handler may.
[[noreturn]] void leave(int status)
{
    tell_hydra_of_end(launcher_socket);
    _exit(status);
}

// The handler of the alarm: says that MPI does not end, and ends the process.
void give_up(int)
{
    // A failed write is ignored, because nothing can be done about it here.
    [[maybe_unused]] const auto written = write(STDERR_FILENO, too_late.data(), too_late.size());
    leave(status_at_end);
}

/// Whether MPI_Finalize may wait for ever. UCX ends a connection only when the peer has answered,
/// but in MPICH before 4.2 peers that are done block in PMI and answer no more
/// (github.com/pmodels/mpich/pull/6596).
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

// A process, and the host that it runs on.
struct Process {
    std::int64_t id = getpid();
    char host[256] = {};
};

/// Waits until all ranks have called this. Collective over MPI_COMM_WORLD.
/// @return the process of rank 0  @throws mpi::Error if MPI fails
Process meet()
{
    Process first;
    host_name().copy(first.host, sizeof first.host - 1);
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(MPI_Ibcast(&first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD, &request),
               "MPI_Ibcast");
    mpi::complete(request);
    mpi::check(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
    mpi::complete(request);
    return first;
}

/// Waits until rank 0 has ended, if it is another process of this host; a second at most. After a
/// SIGTERM Hydra loses the status of the process that ends last on its host: not to be rank 0's.
void let_go_first(const Process& first)
{
    constexpr Seconds longest = 1;
    if (first.id != getpid() && host_name() == first.host)
        outlive(static_cast<pid_t>(first.id), longest);
}

/// Returns options for PETSc. Each rank is a world of PETSc, so all of them would write the files
/// that options of the environment name for what they show. With several ranks each gets its own,
/// FILE.RANK, because these options come after those of the environment.
std::vector<std::string> petsc_options(int rank, int size)
{
    std::vector<std::string> options = {"quorate", "-skip_petscrc"};
    std::istringstream in(size > 1 ? environment("PETSC_OPTIONS") : "");
    std::string before;
    for (std::string word; in >> word; before = word) {
        const auto colon = word.find(':');  // [KIND]:FILE[:FORMAT]
        if (!before.ends_with("_view") || colon == std::string::npos || word[colon + 1] == ':')
            continue;
        word.insert(std::min(word.find(':', colon + 1), word.size()), fmt::format(".{}", rank));
        options.insert(options.end(), {before, word});
    }
    return options;
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
    if (our_mpi) {
        check_launch();
        const WithoutLauncher alone;
        // Several threads may simulate. They take turns in PETSc, which calls MPI: so MPI gets
        // calls from several threads, but one at a time.
        mpi::check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided),
                   "MPI_Init_thread");
        if (provided < MPI_THREAD_SERIALIZED)
            throw Failure(fmt::format(
                "this MPI gives level {} of thread support, and threads that take turns "
                "need MPI_THREAD_SERIALIZED, {}: use an MPI that was built with threads",
                provided, MPI_THREAD_SERIALIZED));
    }
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > 1) log_as(fmt::format("[rank {} of {}]", rank, size));
    PETSC_COMM_WORLD = MPI_COMM_SELF;
    auto options = petsc_options(rank, size);
    std::vector<char*> arguments;
    for (auto& option : options) arguments.push_back(option.data());
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    char** list = arguments.data();
    // PETSc forgets what was done with this signal before.
    auto* const before = std::signal(SIGPIPE, SIG_IGN);
    petsc::check(PetscInitialize(&count, &list, nullptr, nullptr), "PetscInitialize");
    petsc::check(PetscPopSignalHandler(), "PetscPopSignalHandler");
    std::signal(SIGPIPE, before);
    our_petsc = true;
    petsc::keep_errors();
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
    alarm(longest_end);
    PetscFinalize();
    const auto first = size > 1 ? meet() : Process();
    if (size > 1 && finalize_hangs()) {
        let_go_first(first);
        leave(status);
    }
    MPI_Finalize();
    let_go_first(first);
    alarm(0);
    return status;
}

}  // namespace quorate
