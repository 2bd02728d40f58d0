// SPDX-License-Identifier: BSD-2-Clause
// One run, under mpiexec or srun.
#pragma once

#include <optional>
#include <vector>

#include "base/settings.hpp"
#include "trace/trace.hpp"

namespace quorate {

std::vector<Option> mpi_run_options();

/// Trains. Collective over all that the launcher started; ends the process itself where MPI_Finalize would
/// wait for ranks that have died.
/// @return the exit status
int run_over_mpi(const Settings& settings);

/// Trains, writes no file and prints nothing; may be called again. Collective over MPI_COMM_WORLD; the
/// first rank is the coordinator.
/// @param settings  with all of mpi_run_options()
/// @return the trace, on the coordinator
/// @throws BadInput on all ranks, Failure where it happens; a worker that cannot read its rows throws alone
std::optional<trace::Trace> run_in_memory(const Settings& settings);

}  // namespace quorate
