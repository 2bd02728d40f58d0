// SPDX-License-Identifier: BSD-2-Clause
// The life of MPI and PETSc, from the first function that needs them to the end of the process.
#pragma once

namespace quorate {

/// Initialises MPI and PETSc, unless they are initialised. PETSc's world is this process alone, so
/// that the process can outlive others. PETSc gets options from the environment (PETSC_OPTIONS),
/// not from the command line or from files; -log_view shows its table when MPI ends.
/// Collective over all processes that the launcher started.
/// Calls check_launch() before. From then on, failures and details say the rank.
/// @throws mpi::Error if MPI fails  @throws Failure if PETSc fails, and as check_launch()
void start_mpi();

/// Ends what start_mpi() has initialised, unless it is ended already. Collective over all processes
/// that the launcher started, but waits for 10 s at most: after that it says so on stderr, and the
/// process ends here. The process also ends here where MPI_Finalize is known to hang. Launchers see
/// `status` in each case.
/// @return status
/// @throws mpi::Error if MPI fails
int end_mpi(int status);

}  // namespace quorate
