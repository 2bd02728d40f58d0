// SPDX-License-Identifier: BSD-2-Clause
#include "driver/run.hpp"
#include "cli/command.hpp"
#include "driver/options.hpp"

namespace quorate {

Command run_command()
{
    return {.name = "run",
            .text = "train a model: workers are threads, or processes that mpiexec or srun starts",
            .operand = "",
            .options = run_options(),
            .run = run_with_trace,
            .ranks = true};
}

}  // namespace quorate
