// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>

namespace quorate {

/// Set by SIGINT or SIGTERM after listen_for_signals(true).
const std::atomic<bool>& stop_asked();

/// The coordinator ends its run in order at the first signal, and the process at the second. Workers
/// stop when the coordinator says so.
void listen_for_signals(bool coordinator);

}  // namespace quorate
