// SPDX-License-Identifier: BSD-2-Clause
#include "commands/run.hpp"

#include "base/version.hpp"
#include "cli/command.hpp"
#include "commands/options.hpp"

namespace quorate {

Command run_command()
{
    const auto ranks = std::string(launcher) + " -n 9 quorate run --data data.h5 --scheme ";
    return {.name = "run",
            .text = "train a model: workers are threads, or processes that mpiexec or srun starts",
            .options = run_options(),
            .run = run_with_trace,
            .ranks = true,
            .first = {"data", "model", "scheme", "optimizer", "step", "rounds", "delay", "seed",
                      "trace", "checkpoint"},
            .examples = {ranks + "frc \\\n    --stragglers 1 --trace frc.h5",
                         ranks + "agc \\\n    --stragglers 1 --collect 4 "
                                 "--delay exponential:0.05 --trace agc.h5"}};
}

}  // namespace quorate
