// SPDX-License-Identifier: BSD-2-Clause
// Arguments that several delay models have.
#pragma once

#include <vector>

#include "base/arguments.hpp"

namespace quorate {

inline constexpr Bounds value_bounds = {.timed = true};  // a delay, or the factor of a slowdown
inline constexpr Bounds probability_bounds = {.highest = 1};

/// Reads the numbers of workers that there are. @throws BadInput  if there are none
void read_argument(std::vector<int>& workers, const GivenArgument& given);
std::string written_argument(const std::vector<int>& workers, const Bounds&);

/// @throws Refusal if both probabilities of a chain of two states are 0
void refuse_unless_it_changes(double p_bad, double p_good);

}  // namespace quorate
