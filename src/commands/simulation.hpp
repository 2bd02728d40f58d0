// SPDX-License-Identifier: BSD-2-Clause
// Runs without workers over MPI: under a virtual clock, or replayed from their trace.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "run/run.hpp"
#include "scheme/row_weights.hpp"

namespace quorate {

/// Simulates a run in this process, on the caller's thread; any number of threads may call it at
/// once. Writes no file and prints nothing. Needs the memory of all workers' rows, and of the
/// models that are kept (--evaluate-every). Starts MPI and PETSc with data. Local.
/// @param settings  with all of simulation_options()
/// @param stop      another thread or a signal sets it to end the run early; the trace then has the
///                  status `interrupted`; models that are not scored yet stay without scores
/// @param watch     called on this thread as the run goes on
/// @param use       receives whose rows the estimates leave out, if that is known and the pointer
///        is not null
/// @throws BadInput if an option is wrong  @throws Failure if the run cannot go on
trace::Trace simulate(const Settings& settings, const std::atomic<bool>& stop = never_stop,
                      Watch watch = {}, std::optional<RowUse>* use = nullptr);

/// Returns the ways in which simulate() can add up contributions over --nodes hosts, as --aggregate
/// names them: flat first, and those only that a run of these settings does not refuse. Local.
/// @throws BadInput if an option is wrong
std::vector<std::string> ways_to_add_up(const Settings& settings);

/// Returns the options of the run that --replay names, where they are not given now. Local.
/// @param settings  with all of simulation_options()
/// @throws BadInput if the trace cannot be replayed, or an option contradicts it
Settings with_options_of(const trace::Trace& trace, Settings settings);

/// Simulates a run as `quorate simulate` does, with its trace in a file. Catches signals. Local.
/// @param given  with all of simulation_options()
/// @return the exit status
/// @throws BadInput if an option is wrong  @throws Failure if the run cannot go on
int simulate_with_trace(const Settings& given);

}  // namespace quorate
