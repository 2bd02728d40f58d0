// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace quorate {

/// Makes this process one whose death its launcher does not see: forks, and goes on in the child. The
/// parent waits and ends with the child's exit status, or with 0 if it was killed, so that the other
/// ranks are left alone. To be called before MPI_Init. Also chooses transports of MPI that survive the
/// death of a peer, unless the user has chosen.
/// @throws Failure if there can be no other process
void supervise();

/// From now on the other ranks notice the death of this one by themselves. Before, they would wait for it
/// for ever, so the supervisor stops the launcher then.
void has_started();

}  // namespace quorate
