// SPDX-License-Identifier: BSD-2-Clause
#include "cli/command.hpp"
#include "driver/mpi_run.hpp"

namespace quorate {

Command run_command()
{
    return {.name = "run",
            .text = "train a model; start it with mpiexec or srun",
            .operand = "",
            .options = mpi_run_options(),
            .run = run_over_mpi,
            .ranks = true};
}

}  // namespace quorate
