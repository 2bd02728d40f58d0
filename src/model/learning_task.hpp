// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "base/settings.hpp"
#include "model/data_shape.hpp"

namespace quorate {

/// @throws BadInput, with models for such data, unless --model can learn what the labels mean
void require_task(const Settings& settings, const DataShape& data,
                  const std::vector<LearningTask>& tasks);

/// --threshold, of models for two classes.
Option threshold_option();

/// --top-k, of models for several classes.
Option top_k_option();

}  // namespace quorate
