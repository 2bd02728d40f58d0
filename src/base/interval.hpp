// SPDX-License-Identifier: BSD-2-Clause
// How well a mean of few values is known.
#pragma once

#include <optional>
#include <vector>

namespace quorate {

/// Returns half of the width of the 95 % confidence interval of the mean of independent, normally
/// distributed values: t s / sqrt(n), where s is their standard deviation and t the 97.5 % quantile
/// of Student's distribution with n - 1 degrees of freedom. O(n).
/// @return nothing for fewer than two values, or if one of them is not finite
std::optional<double> half_interval(const std::vector<double>& values);

}  // namespace quorate
