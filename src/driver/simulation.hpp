// SPDX-License-Identifier: BSD-2-Clause
// Runs without MPI: under a virtual clock, or again from their trace.
#pragma once

#include <atomic>
#include <vector>

#include "base/settings.hpp"
#include "driver/train.hpp"

namespace quorate {

std::vector<Option> simulation_options();

/// One run in this process, on the caller's thread; any number may go on at once. Writes no file and prints
/// nothing; needs the memory of all workers' rows, and of the models that are kept (--evaluate-every).
/// @param settings  with all of simulation_options()
/// @param stop      ends it early, with status `interrupted`
/// @throws BadInput for whatever the options get wrong; Failure if the run cannot go on
trace::Trace simulate(const Settings& settings, const std::atomic<bool>& stop = never_stop);

/// One run as the command makes it, with its trace in a file.
/// @return the exit status
int simulate_with_trace(const Settings& given);

}  // namespace quorate
