// SPDX-License-Identifier: BSD-2-Clause
#include "cli/command.hpp"
#include "commands/options.hpp"
#include "commands/simulation.hpp"

namespace quorate {

Command simulate_command()
{
    return {"simulate", "train under a virtual clock, with any number of workers and without MPI",
            "", simulation_options(), simulate_with_trace};
}

}  // namespace quorate
