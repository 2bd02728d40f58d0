// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <deque>
#include <vector>

namespace quorate {

/// Which workers straggled in an exchange: a flag for each worker.
using Stragglers = std::vector<bool>;

/// The (B, W, lambda)-bursty model: in any W exchanges in a row at most lambda workers straggle,
/// and each of them only within B exchanges in a row.
struct Bursty {
    int burst, window, workers;  // B, W, lambda
};

/// Whether the last W exchanges of a pattern fit the model. O(n W).
/// @param pattern  in the order of time, at least one exchange
bool conforms(const Bursty& model, const std::deque<Stragglers>& pattern);

}  // namespace quorate
