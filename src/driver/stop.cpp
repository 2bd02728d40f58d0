// SPDX-License-Identifier: BSD-2-Clause
#include "driver/stop.hpp"

#include <fmt/format.h>
#include <sys/time.h>

#include <cmath>
#include <csignal>
#include <ctime>
#include <limits>
#include <optional>

#include "base/host.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

std::atomic<bool> asked = false;

void ask_to_stop(int) { asked = true; }

// Ends the process at the second signal, because who asks again does not want to wait. A signal
// within a second or so of the first counts as the same one: a launcher that signals a process
// group reaches this process and also its supervisor, which forwards the signal.
void ask_or_insist(int signal)
{
    static volatile std::time_t first = 0;
    const auto now = std::time(nullptr);
    if (first == 0) first = now;
    if (now - first > 1) {
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
    asked = true;
}

}  // namespace

const std::atomic<bool>& stop_asked() { return asked; }

void listen_for_signals(bool coordinator)
{
    struct sigaction action {};
    action.sa_handler = coordinator ? ask_or_insist : ask_to_stop;
    for (const int signal : {SIGTERM, coordinator ? SIGINT : SIGUSR2})
        sigaction(signal, &action, nullptr);
    // Ctrl-C reaches all ranks, but is meant for the run, which the coordinator ends.
    if (!coordinator) std::signal(SIGINT, SIG_IGN);
}

std::vector<Option> stop_options()
{
    return {
        {"stop-before", "SECONDS", "",
         "stop so long before the job ends, with a checkpoint and exit status 75: 300, 5min, 1h"},
        {"walltime", "SECONDS", "",
         "of the job, from now on; default: until SLURM_JOB_END_TIME, if that is set"}};
}

double seconds_to_run(const Settings& settings)
{
    const auto duration = [&](const char* name) {
        const auto seconds = to_duration(settings.text(name));
        if (!seconds) settings.refuse(name, ": write 300, 5min or 1h");
        return *seconds;
    };
    std::optional<double> left;
    if (settings.on("walltime")) left = duration("walltime");
    if (!settings.on("stop-before")) return std::numeric_limits<double>::infinity();
    const auto end = to_real(environment("SLURM_JOB_END_TIME"));
    if (!left && end) left = *end - static_cast<double>(std::time(nullptr));
    const auto before = duration("stop-before");
    if (!left)
        settings.refuse("stop-before",
                        ", but nothing says when the job ends: give --walltime, or set "
                        "SLURM_JOB_END_TIME");
    if (*left <= before)
        settings.refuse("stop-before", fmt::format(", but the job ends in {:.0f} s: that time is "
                                                   "over already; use less",
                                                   *left));
    return *left - before;
}

void stop_in(double seconds)
{
    if (!std::isfinite(seconds)) return;
    std::signal(SIGALRM, ask_to_stop);
    const itimerval at{{0, 0},
                       {static_cast<time_t>(seconds),
                        static_cast<suseconds_t>(1e6 * (seconds - std::floor(seconds))) + 1}};
    setitimer(ITIMER_REAL, &at, nullptr);
}

}  // namespace quorate
