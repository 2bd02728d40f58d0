// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <span>

#include "data/data_set.hpp"
#include "model/loss.hpp"

namespace quorate {

/// Makes the function by which the coordinator turns scores into derivatives of the losses
/// (Combine). Reads all training rows once and keeps their labels.
/// @param loss  must outlive the result
/// @return a function that replaces each score, rows x outputs row by row, by the derivative of its
///         row's loss, and returns the sum of the losses; O(scores)
/// @throws BadInput, Failure  as DataSet::read()
std::function<double(std::span<double> scores)> loss_derivatives(const DataSet& data,
                                                                 const Loss& loss);

}  // namespace quorate
