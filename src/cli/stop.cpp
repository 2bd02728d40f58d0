// SPDX-License-Identifier: BSD-2-Clause
#include "cli/stop.hpp"

#include <csignal>

namespace quorate {

namespace {

std::atomic<bool> asked = false;

void ask_to_stop(int) { asked = true; }

}  // namespace

const std::atomic<bool>& stop_asked() { return asked; }

void listen_for_signals(bool coordinator)
{
    struct sigaction action {};
    action.sa_handler = ask_to_stop;
    action.sa_flags = SA_RESETHAND * coordinator;
    for (const int signal : {SIGTERM, coordinator ? SIGINT : SIGUSR2})
        sigaction(signal, &action, nullptr);
    // Ctrl-C reaches all ranks, and is meant for the run.
    if (!coordinator) std::signal(SIGINT, SIG_IGN);
}

}  // namespace quorate
