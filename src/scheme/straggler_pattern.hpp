// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <deque>
#include <vector>

namespace quorate {

/// Who straggled, exchange by exchange; a set of workers as one flag each.
using Stragglers = std::vector<bool>;

/// (B, W, lambda)-bursty: in any W exchanges in a row at most lambda workers straggle, and each of them
/// within a burst of B exchanges.
struct Bursty {
    int burst, window, workers;
};

/// Whether the last exchange of a pattern fits the model, given those before it. O(n W).
/// @param pattern  in the order of time; only the last W count
bool conforms(const Bursty& model, const std::deque<Stragglers>& pattern);

}  // namespace quorate
