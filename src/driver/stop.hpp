// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// Set by SIGINT or SIGTERM after listen_for_signals(true), by SIGTERM or SIGUSR2 after
/// listen_for_signals(false).
const std::atomic<bool>& stop_asked();

/// The coordinator ends its run in order at the first signal, and the process at the second. A worker
/// leaves the run, and waits for its end.
void listen_for_signals(bool coordinator);

/// Seconds from now until the run is to stop by itself: --stop-before the end of the job, which --walltime
/// or SLURM says. Never, if it is not to. @throws BadInput if that is over already, or nobody says
double seconds_to_run(const Settings& settings);

/// Sets stop_asked() then.
void stop_in(double seconds);

/// --stop-before and --walltime.
std::vector<Option> stop_options();

}  // namespace quorate
