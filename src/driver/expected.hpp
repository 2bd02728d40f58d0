// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "driver/training.hpp"

namespace quorate {

/// Returns the mean seconds that a round waits for delays, if all workers begin at once and take
/// equally long to compute: a round ends with the k-th answer with the probability that k - 1
/// random answers do not suffice and k do, and the scheme's entry knows these. Nothing unless the
/// scheme's and the delay model's closed forms are known and finite, and nobody is slower than
/// others. O(n^2).
std::optional<double> expected_delay(const Settings& settings, const Training& training);

}  // namespace quorate
