// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "driver/training.hpp"

namespace quorate {

/// Returns the mean seconds that a round waits for delays, by a closed form. It assumes that all
/// workers begin at once and compute equally long. Then the round ends with the k-th answer with
/// the probability that k - 1 random answers do not suffice and k do, which the scheme's entry
/// knows (SchemeProperties::blocked). Local. O(n^2) for n workers.
/// @return nothing unless the closed forms of the scheme and of the delay model are known and
///         finite, and --slowdown is none
std::optional<double> expected_delay(const Settings& settings, const Training& training);

}  // namespace quorate
