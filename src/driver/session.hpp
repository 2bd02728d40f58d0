// SPDX-License-Identifier: BSD-2-Clause
// MPI and PETSc, from the first command that needs them to the end of the process.
#pragma once

namespace quorate {

/// Initialises both, unless they are. PETSc's world is this process alone, so that it outlives
/// others; it sees no options but its own defaults. Collective over all that the launcher started.
void start_mpi();

/// Ends what start_mpi() has begun, if that is not ended. Collective, but never waits for longer than 10 s: then it says so, and the process ends here with `status`. The process also ends
/// here where MPI_Finalize is known to hang. Launchers see `status` either way.
/// @return status
int end_mpi(int status);

}  // namespace quorate
