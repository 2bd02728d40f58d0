// SPDX-License-Identifier: BSD-2-Clause
// --l2 and --l1, as several commands read them.
#pragma once

#include <vector>

#include "base/settings.hpp"
#include "optimizer/regularizer.hpp"

namespace quorate {

/// Returns the options --l2 and --l1.
std::vector<Option> penalty_options();

/// Reads --l2 and --l1: numbers of at least 0, or 1/n.
/// @param rows  n, the training rows  @throws BadInput for other values
Regularizer regularizer_of(const Settings& settings, std::int64_t rows);

}  // namespace quorate
