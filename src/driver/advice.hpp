// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "driver/prediction.hpp"

namespace quorate {

/// Returns the options of `quorate advise`, but for those that say how it prints.
std::vector<Option> advice_options();

/// Schemes with their redundancy, the fastest to the target first.
struct Advice {
    Settings settings;  // with what --measured tells of the cluster
    // Seeds with which all that are ranked were simulated. Some may have one more.
    int seeds = std::numeric_limits<int>::max();
    std::vector<Prediction> ranked = {};
    std::vector<int> fastest = {};  // for each, in how many simulations it was the fastest
    std::vector<std::string> data_only = {};  // schemes that are compared with data only
    std::vector<std::string> left_out = {};   // candidates without a simulation within --time-limit
    bool certain = false;                     // whether nothing in the simulations is random

    /// Whether the simulations do not tell a candidate from the first one: the mean difference of
    /// their times, seed by seed because all had the same delays, is within its 95 % confidence
    /// interval. False where there is none.
    bool like_the_first(const Prediction& one) const;
    /// Returns half of the 95 % confidence interval of a candidate's mean time; nothing with one
    /// seed, if the target is not reached, or if nothing is random.
    std::optional<double> half_interval(const Prediction& one) const;
};

/// Called as simulations end, on one thread at a time: how many have, of how many at most.
using AdviceProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Simulates all candidates on all cores and ranks them. What it costs: a simulation of each
/// candidate and seed, but no more than --time-limit. All candidates get their first seed first; a
/// simulation that takes more than a quarter of that time is stopped, and its candidate gets no
/// more. If two seeds give the same times for all candidates, nothing is random, and the other seeds
/// are left out. Logs a warning if the time was too short.
/// @param given  with all of advice_options()
/// @throws BadInput if an option is wrong, if no scheme can be simulated with them, or if the time is
///         too short for any advice
/// @throws Failure if a simulation cannot go on
Advice advise(const Settings& given, const AdviceProgress& progress = {});

}  // namespace quorate
