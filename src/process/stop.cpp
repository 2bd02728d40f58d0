// SPDX-License-Identifier: BSD-2-Clause
#include "process/stop.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include "base/host.hpp"
#include "base/text.hpp"
#include "process/supervisor.hpp"

namespace quorate {

namespace {

std::atomic<bool> asked = false;
volatile std::sig_atomic_t asked_by_signal = 0;  // SIGINT or SIGTERM
volatile std::time_t first_asked = 0;            // when it came

void ask_by_signal(int) { asked = true; }

// Ends the process at the second signal, because who asks again does not want to wait. A signal
// within a second or so of the first counts as the same one: a launcher that signals a process
// group reaches this process and also its supervisor, which forwards the signal.
void ask_or_insist(int signal)
{
    const auto now = std::time(nullptr);
    if (first_asked == 0) first_asked = now;
    if (now - first_asked > 1) {
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
    asked_by_signal = signal;
    asked = true;
}

// When a job ends.
struct JobEnd {
    double left;  // seconds from now on
    const char* said_by;
};

// Returns what schedulers say of the job's end.
std::vector<JobEnd> ends_of_scheduler()
{
    std::vector<JobEnd> ends;
    const auto now = std::time(nullptr);
    if (const auto end = to_real(environment("SLURM_JOB_END_TIME")))
        ends.push_back({*end - static_cast<double>(now), "SLURM_JOB_END_TIME"});
    // That of PBS counts from the begin of the job, when its file of nodes was made.
    if (const auto all = to_duration(environment("PBS_WALLTIME"))) {
        struct stat nodes {};
        const bool there = stat(environment("PBS_NODEFILE").c_str(), &nodes) == 0;
        ends.push_back({*all - (there ? std::difftime(now, nodes.st_mtime) : 0), "PBS_WALLTIME"});
    }
    return ends;
}

}  // namespace

const std::atomic<bool>& stop_asked() { return asked; }

void ask_to_stop() { asked = true; }

void listen_for_signals(bool coordinator)
{
    struct sigaction ask {
    }, insist{};
    ask.sa_handler = ask_by_signal;
    insist.sa_handler = ask_or_insist;
    for (const int signal : warning_signals()) sigaction(signal, &ask, nullptr);
    if (!coordinator) {
        // Ctrl-C reaches all ranks, but is meant for the run, which the coordinator ends.
        std::signal(SIGINT, SIG_IGN);
        return;
    }
    for (const int signal : {SIGTERM, SIGINT}) sigaction(signal, &insist, nullptr);
}

SignalsKept::SignalsKept()
{
    auto signals = warning_signals();
    signals.insert(signals.end(), {SIGINT, SIGALRM});
    for (const int signal : signals) {
        struct sigaction now {};
        sigaction(signal, nullptr, &now);
        before_.emplace_back(signal, now);
    }
}

SignalsKept::~SignalsKept()
{
    const itimerval none{};
    struct sigaction alarm {};
    sigaction(SIGALRM, nullptr, &alarm);
    if (alarm.sa_handler == ask_by_signal) setitimer(ITIMER_REAL, &none, nullptr);
    for (const auto& [signal, action] : before_) sigaction(signal, &action, nullptr);
    asked = false;
    asked_by_signal = 0;
    first_asked = 0;
}

int SignalsKept::asked_by() const { return asked_by_signal; }

std::vector<Option> stop_options()
{
    return {
        {"stop-before", "SECONDS", "",
         "stop so long before the job ends, with a checkpoint and exit status 75: 300, 5min, 1h"},
        {"walltime", "SECONDS", "",
         "of the job, from now on: 3600, 2:00:00, 1-12:00:00; the job ends then, or when "
         "SLURM_JOB_END_TIME or PBS_WALLTIME says, whichever is first"}};
}

double seconds_to_run(const Settings& settings)
{
    const auto duration = [&](const char* name) {
        const auto seconds = to_duration(settings.text(name));
        if (!seconds) settings.refuse(name, ": write 300, 5min, 1h, 2:00:00 or 1-12:00:00");
        return *seconds;
    };
    auto ends = ends_of_scheduler();
    if (settings.on("walltime")) ends.push_back({duration("walltime"), "--walltime"});
    if (!settings.on("stop-before")) return std::numeric_limits<double>::infinity();
    const auto before = duration("stop-before");
    if (ends.empty())
        settings.refuse("stop-before",
                        ", but nothing says when the job ends: give --walltime, or set "
                        "SLURM_JOB_END_TIME");
    const auto first = *std::ranges::min_element(ends, {}, &JobEnd::left);
    if (first.left <= before)
        settings.refuse("stop-before",
                        fmt::format(", but by {} the job ends in {:.0f} s: that time is over "
                                    "already; use less, or correct {}",
                                    first.said_by, first.left, first.said_by));
    return first.left - before;
}

void stop_in(double seconds)
{
    if (!std::isfinite(seconds)) return;
    std::signal(SIGALRM, ask_by_signal);
    const itimerval at{{0, 0},
                       {static_cast<time_t>(seconds),
                        static_cast<suseconds_t>(1e6 * (seconds - std::floor(seconds))) + 1}};
    setitimer(ITIMER_REAL, &at, nullptr);
}

}  // namespace quorate
