// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <span>

#include "data/data_set.hpp"
#include "model/loss.hpp"

namespace quorate {

/// What the coordinator does with the scores of all training rows: it holds their labels, turns scores
/// into the derivatives of the losses by them, and says the sum of the losses. Reads the labels.
/// @param loss  lives as long as the result
std::function<double(std::span<double> scores)> loss_derivatives(const DataSet& data,
                                                                 const Loss& loss);

}  // namespace quorate
