// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "driver/prediction.hpp"

namespace quorate {

/// Returns the options of `quorate advise`, but for those that say how it prints.
std::vector<Option> advice_options();

/// Schemes with their redundancy, the fastest to the target first.
struct Advice {
    Settings settings;  // with what --measured tells of the cluster
    int seeds = 0;      // simulations of each candidate
    std::vector<Prediction> ranked;
    std::vector<int> fastest;  // for each, in how many simulations it was the fastest
};

/// Simulates all candidates on all cores and ranks them. Prints nothing. What it costs: a
/// simulation of each candidate and seed (predict).
/// @param given  with all of advice_options()
/// @throws BadInput if an option is wrong, or if no scheme can be simulated with them
/// @throws Failure if a simulation cannot go on
Advice advise(const Settings& given);

}  // namespace quorate
