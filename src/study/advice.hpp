// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/time_to_target.hpp"

namespace quorate {

/// Returns the options of `quorate advise`, but for those that say how it prints.
std::vector<Option> advice_options();

/// Schemes with their redundancy: those with most seeds first, and of these the fastest to the
/// target.
struct Advice {
    Settings settings;  // with what --measured tells of the cluster
    int seeds = 1;      // with which the first ones were simulated
    std::vector<CandidateTimes> ranked = {};
    std::size_t best = 0;           // in `ranked`: the first one that is recommended
    std::vector<int> fastest = {};  // for each, in how many of these seeds it was the fastest
    std::vector<std::string> data_only = {};  // schemes that are compared with data only
    std::vector<std::string> left_out = {};   // candidates without a simulation within --time-limit
    bool certain = false;                     // whether nothing in the simulations is random
    std::size_t simulations = 0;              // that were made
    bool ways = false;  // whether each candidate is added up in the way that is fastest for it
    Seconds took = 0;   // all of it

    /// Why a candidate is not recommended however fast it is; empty: it may be. Its estimates leave
    /// out rows; or they are not exact, and neither --data nor --heterogeneity tells what that
    /// costs.
    std::string doubt(const CandidateTimes& one) const;
    /// Whether the simulations do not tell a candidate from the best one: the mean difference of
    /// their times, seed by seed because all had the same delays, is within its 95 % confidence
    /// interval. False where there is none, and of the best one.
    bool like_the_best(const CandidateTimes& one) const;
    /// Returns half of the 95 % confidence interval of a candidate's mean time; nothing with one
    /// seed, if the target is not reached, or if nothing is random.
    std::optional<double> half_interval(const CandidateTimes& one) const;
};

/// Called as simulations end, on one thread at a time: how many have, of how many at most.
using AdviceProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Simulates candidates on all cores and ranks them, by successive halving (Jamieson, Talwalkar,
/// AISTATS 2016): all get their first seed, the better half a second one, of these the better half
/// a third one, and the last few all seeds. It ends after --time-limit at the latest. A simulation
/// that takes more than a quarter of that time is stopped, and its candidate gets no more. If two
/// seeds give the same times for all candidates that have both, nothing is random, and the other
/// seeds are left out. Logs a warning if the time was too short.
/// @param given  with all of advice_options()
/// @throws BadInput if an option is wrong, if no scheme can be simulated with them, if none of them
///         reaches the target, or if the time is too short for any advice
/// @throws Failure if a simulation cannot go on
Advice advise(const Settings& given, const AdviceProgress& progress = {});

}  // namespace quorate
