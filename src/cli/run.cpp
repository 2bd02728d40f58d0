// SPDX-License-Identifier: BSD-2-Clause
#include "cli/command.hpp"
#include "driver/mpi_run.hpp"

namespace quorate {

Command run_command()
{
    return {"run", "train a model; start it with mpiexec or srun", "", mpi_run_options(),
            run_over_mpi};
}

}  // namespace quorate
