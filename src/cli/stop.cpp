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
    action.sa_handler = coordinator ? ask_to_stop : SIG_IGN;
    action.sa_flags = SA_RESETHAND * coordinator;
    for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace quorate
