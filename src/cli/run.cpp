// SPDX-License-Identifier: BSD-2-Clause
#include "commands/run.hpp"
#include "cli/command.hpp"
#include "commands/options.hpp"

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
