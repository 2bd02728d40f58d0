// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

namespace quorate {

/// Makes this process one whose death its launcher does not see: forks, and goes on in the child. The
/// parent waits and ends with the child's exit status, or with 0 if it was killed, so that the other
/// ranks are left alone. To be called before MPI_Init. Also chooses transports of MPI that survive the
/// death of a peer, unless the user has chosen.
/// @throws Failure if there can be no other process
void supervise();

/// The process that the launcher started: the supervisor if there is one, else this one.
pid_t launched_process();

/// Waits until a process of this host has ended, for so many seconds at most.
void outlive(pid_t process, double at_most);

/// From now on the other ranks notice the death of this one by themselves. Before, they would wait for it
/// for ever, so the supervisor stops the launcher then.
void has_started();

}  // namespace quorate
