// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "base/settings.hpp"
#include "model/data_shape.hpp"

namespace quorate {

/// Checks that --model can learn what the labels of the data mean.
/// @param tasks  those that the model can learn
/// @throws BadInput, with models for such data, if it cannot
void require_task(const Settings& settings, const DataShape& data,
                  const std::vector<LearningTask>& tasks);

/// The option --threshold of models for two classes.
Option threshold_option();

/// The option --top-k of models for several classes.
Option top_k_option();

}  // namespace quorate
