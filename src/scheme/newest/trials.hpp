// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <vector>

#include "base/seconds.hpp"

namespace quorate {

/// A worker's trials: the probability that one succeeds, and the seconds that it takes at most
/// (never: nothing is known).
struct WorkerTrials {
    double success;
    Seconds cost;
};

/// Returns how many trials each worker is to make in a round for so many successes together: with
/// the costs c_i ascending, T(m) = (S + sum_{i <= m} p_i) / (sum_{i <= m} p_i / c_i), m* its
/// minimiser, B_i = ceil(T(m*) / c_i - 1) for i <= m* and 0 beyond; one trial of the cheapest if
/// all were 0, none at all if nothing is known of anybody. O(n log n). Source: code of Maranjyan et
/// al., MindFlayer SGD, arXiv 2410.04285.
/// @param wanted  S
std::vector<int> chosen_trials(double wanted, std::span<const WorkerTrials> trials);

}  // namespace quorate
