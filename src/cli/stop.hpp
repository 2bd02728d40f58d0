// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>

namespace quorate {

/// Set by SIGINT or SIGTERM after listen_for_signals(true), by SIGTERM or SIGUSR2 after
/// listen_for_signals(false).
const std::atomic<bool>& stop_asked();

/// The coordinator ends its run in order at the first signal, and the process at the second. A worker
/// leaves the run, and waits for its end.
void listen_for_signals(bool coordinator);

}  // namespace quorate
