// SPDX-License-Identifier: BSD-2-Clause
// What is made of the scores of a model: a row of the trace, and a line for the user.
#pragma once

#include "compute/scoring.hpp"
#include "trace/rows.hpp"

namespace quorate {

/// Returns how many models to score at a time: 4 MiB of them, but at least one.
/// @param width  elements of a model, at least 1
std::size_t models_at_once(std::int64_t width);

/// Makes the row of a scored model. The objective is its training loss plus the penalty.
/// @param round    number of updates after which the model was taken
/// @param model    its number, 0 if the scheme trains one
/// @param time     of that round's update, seconds
/// @param penalty  value of the regulariser at the model
trace::Evaluation evaluation_row(std::int64_t round, std::int64_t model, double time,
                                 double penalty, const Scored& scored);

/// Prints a line on stdout: the losses, and accuracy and AUC if the model has them.
void print_quality(const trace::Evaluation& row);

}  // namespace quorate
