// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "base/settings.hpp"
#include "model/model.hpp"

namespace quorate {

/// The parameters that --init asks for: zero, normal:SD, he, glorot, or the final ones of a trace.
/// he: weights N(0, 2 / fan_in) (He et al. 2015); glorot: uniform in +-sqrt(6 / (fan_in + fan_out))
/// (Glorot and Bengio 2010); biases zero.
/// @throws BadInput
std::vector<double> initial_model(const Settings& settings, std::uint64_t seed, const Model& model,
                                  std::int64_t columns);

/// The final model of a trace. @param option  that names the trace  @throws BadInput
std::vector<double> final_model(const Settings& settings, const std::string& option,
                                std::int64_t width);

}  // namespace quorate
