// SPDX-License-Identifier: BSD-2-Clause
// One run, under mpiexec or srun.
#pragma once

#include <vector>

#include "base/settings.hpp"

namespace quorate {

std::vector<Option> mpi_run_options();

/// Trains. Collective over all that the launcher started; ends the process itself where MPI_Finalize would
/// wait for ranks that have died.
/// @return the exit status
int run_over_mpi(const Settings& settings);

}  // namespace quorate
