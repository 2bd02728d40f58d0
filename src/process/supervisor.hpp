// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace quorate {

/// Chooses transports of MPI that survive the death of a peer, unless the user has chosen some. To
/// be called before MPI_Init. Local.
void choose_tcp();

/// Makes this process one whose death its launcher does not see: forks, and returns in the child.
/// The parent, the supervisor, forwards signals and waits for the child. It ends with the child's
/// exit status. If a signal ended the child, it ends with 0 for a worker after has_started(), so
/// that the launcher leaves the other ranks alone, and with 1 otherwise. Also calls choose_tcp().
/// To be called before MPI_Init. Local.
/// @throws Failure if the system refuses the memory or the process
void supervise();

/// Returns the process that the launcher started: the supervisor if there is one, else this
/// process.
pid_t launched_process();

/// Whether that process was started by Hydra, which sends SIGUSR1 to all ranks when one has died.
bool launched_by_hydra();

/// The signals by which schedulers and shells tell that the end is near: SIGTERM, SIGUSR2, SIGUSR1
/// (not under Hydra, which has another use for it), SIGXCPU, and SIGHUP unless it is ignored
/// (nohup). Local.
std::vector<int> warning_signals();

/// Waits until a process of this host has ended, for `at_most` seconds. Looks for it again and
/// again, and sleeps in between.
void outlive(pid_t process, double at_most);

/// Tells the supervisor that from now on the other ranks notice the death of this one by
/// themselves. Before this call they would wait for it for ever, so if this process is killed
/// earlier, its supervisor ends with status 1, and kills Hydra if that is the launcher. Does
/// nothing without a supervisor. Local.
void has_started();

/// Tells the supervisor that this process leads the run. If it is killed, another process is to
/// take its place, which changes a file; else the supervisor ends with status 1. Does nothing
/// without a supervisor. Local.
/// @param record    that file
/// @param patience  seconds within which it is to change
void leads(const std::string& record, double patience);

}  // namespace quorate
