// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace quorate {

/// A process of this host, as the system knows it.
struct ProcessEntry {
    std::string name;  // empty: there is no such process
    pid_t parent = 0;  // 0: it has none that this process sees
};
ProcessEntry find_process(pid_t process);

/// What the launcher's environment says of this process. It is known before MPI is initialised.
struct Launch {
    std::optional<int> rank, size;  // none: no launcher
};
/// Reads the environment of Open MPI's mpiexec, of Hydra and of srun. Local.
Launch launch_environment();

/// Returns the socket on which this rank speaks to Hydra; -1 if another launcher has started it.
int hydra_socket();

/// Tells Hydra that this rank ends without MPI_Finalize, because Hydra takes a rank that ends
/// before PMI's finalize for a failed one. Sends PMI-1's message and waits for the answer; gives up
/// when nothing comes for a second. Local. Calls only functions that a signal handler may call.
/// @param socket  from hydra_socket(); -1: does nothing
void tell_hydra_of_end(int socket);

/// Has Hydra end at once, with all ranks that are left: it would wait for ever for those of a host
/// that is gone. What this process has written is printed before. Local.
/// @param socket  from hydra_socket(); -1: does nothing
/// @param status  what mpiexec ends with
void end_hydra(int socket, int status);

/// Runs a check on every rank. If it throws BadInput on some, the lowest of these ranks logs the
/// message. Collective over MPI_COMM_WORLD.
/// @param check  other exceptions than BadInput pass through, before the ranks have agreed
/// @return whether the check threw BadInput on no rank; the same on all ranks
/// @throws mpi::Error if MPI fails
bool all_agree(const std::function<void()>& check);

/// Checks that all ranks are in one world. Local.
/// @param size  of MPI_COMM_WORLD
/// @throws BadInput if it is another number than the environment of the launcher or the scheduler
///         says; the message names the launcher of this build's MPI
void check_world(int size);

/// Whether a launcher is among the processes above this one, so that this process is a rank or was
/// started by one. The variables of a launcher alone do not tell: a shell hands them on. Nor does
/// SLURM in a shell of `srun --pty`. A process that does not see its ancestors, as in a container
/// with processes of its own, finds none. Local.
bool has_launcher();

/// Whether this process prints what all ranks would: one message is enough. Local.
bool speaks_for_all();

/// Refuses to go on if a launcher has started several processes of a command that is one process.
/// Local.
/// @param command  its name, for the message
/// @throws BadInput if there are several
void refuse_launcher(const std::string& command);

/// From then on launch_environment() has no launcher, and MPI starts as a world of one process,
/// which needs no transport. To be called before MPI_Init. Local.
void forget_launcher();

/// For MPI_Init: as long as it lives, the environment has nothing of a launcher that is forgotten.
/// Then it is as it was, because processes that this one starts, such as jobs, get it too. Nobody
/// else may change it meanwhile. Local.
class WithoutLauncher {
public:
    WithoutLauncher();
    ~WithoutLauncher();
    WithoutLauncher(const WithoutLauncher&) = delete;
    WithoutLauncher& operator=(const WithoutLauncher&) = delete;

private:
    void set(const std::string& name, const char* value);
    std::map<std::string, std::optional<std::string>> before_;  // by name; nothing: it was not set
};

/// Looks at what MPI_Init needs, because MPI itself ends the process where that is missing. Forgets
/// a launcher that has not started this process, and says so. To be called before MPI_Init. Local.
/// @throws BadInput if the host lacks memory that its ranks share; the first rank of each host says
/// so
void check_launch();

}  // namespace quorate
