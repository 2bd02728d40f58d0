// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "base/fields.hpp"
#include "model/data_shape.hpp"

namespace quorate {

/// Checks that a model can learn what the labels of the data mean.
/// @param tasks  those that the model can learn
/// @throws Refusal, with models for such data, if it cannot
void require_task(const DataShape& data, const std::vector<LearningTask>& tasks);

/// The row of --threshold, of models for two classes.
OptionRow threshold_row();

/// The row of --top-k, of models for several classes.
OptionRow top_k_row();

}  // namespace quorate
