// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <csignal>
#include <utility>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// Whether the run is to stop. A warning signal sets it after listen_for_signals(), SIGINT too
/// after listen_for_signals(true), and so does the timer of stop_in().
const std::atomic<bool>& stop_asked();

/// Sets stop_asked().
void ask_to_stop();

/// Makes signals set stop_asked() from now on. Then the coordinator ends its run in order; a second
/// SIGTERM or SIGINT, more than a second after the first, ends its process. A worker leaves the run
/// and waits for its end; it ignores SIGINT. Local.
void listen_for_signals(bool coordinator);

/// Keeps what signals do in a process that goes on after a run. At its end they do again what they
/// did before, no timer of stop_in() is left, and stop_asked() is false. Local.
class SignalsKept {
public:
    SignalsKept();
    SignalsKept(const SignalsKept&) = delete;
    SignalsKept& operator=(const SignalsKept&) = delete;
    ~SignalsKept();
    /// SIGINT or SIGTERM, if it has asked the coordinator to stop; else 0.
    int asked_by() const;

private:
    std::vector<std::pair<int, struct sigaction>> before_;
};

/// Returns the seconds from now until the run is to stop by itself: --stop-before seconds before
/// the job ends. --walltime, SLURM_JOB_END_TIME and PBS_WALLTIME tell the end of the job; the
/// earliest counts. Infinite without --stop-before. Local.
/// @throws BadInput if an option is no duration, if that time is over already, or if nothing tells
///         when the job ends
double seconds_to_run(const Settings& settings);

/// Makes a timer (SIGALRM) set stop_asked() in so many seconds. Infinite: does nothing. Local.
void stop_in(double seconds);

/// Returns the options --stop-before and --walltime.
std::vector<Option> stop_options();

}  // namespace quorate
