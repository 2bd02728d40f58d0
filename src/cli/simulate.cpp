// SPDX-License-Identifier: BSD-2-Clause
#include "cli/command.hpp"
#include "commands/options.hpp"
#include "commands/simulation.hpp"

namespace quorate {

Command simulate_command()
{
    return {
        .name = "simulate",
        .text = "train under a virtual clock, with any number of workers and without MPI",
        .options = simulation_options(),
        .run = simulate_with_trace,
        .first = {"data", "dry", "workers", "scheme", "model", "rounds", "delay", "row-time",
                  "seed", "trace"},
        .examples = {"quorate simulate --dry --workers 1000 --scheme frc --stragglers 1 \\\n"
                     "    --delay exponential:1 --row-time 1e-3 --trace times.h5",
                     "quorate simulate --data data.h5 --workers 8 --scheme agc --stragglers 1 \\\n"
                     "    --delay pareto:0.1,2 --row-time 1e-5 --trace many.h5"}};
}

}  // namespace quorate
