// SPDX-License-Identifier: BSD-2-Clause
// What becomes of scored models: a row of the trace, and a line for the user.
#pragma once

#include "compute/scoring.hpp"
#include "trace/rows.hpp"

namespace quorate {

/// How many models are scored at a time: about four megabytes of them.
std::size_t models_at_once(std::int64_t width);

/// @param model    its number  @param time  of the round's update  @param penalty  of the model
trace::Evaluation evaluation_row(std::int64_t round, std::int64_t model, double time,
                                 double penalty, const Scored& scored);

/// The metrics that the model has.
void print_quality(const trace::Evaluation& row);

}  // namespace quorate
