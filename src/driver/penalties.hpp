// SPDX-License-Identifier: BSD-2-Clause
// --l2 and --l1, as several commands read them.
#pragma once

#include <vector>

#include "base/settings.hpp"
#include "optimizer/regularizer.hpp"

namespace quorate {

std::vector<Option> penalty_options();

/// @param rows  of the training split  @throws BadInput
Regularizer regularizer_of(const Settings& settings, std::int64_t rows);

}  // namespace quorate
