// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// The model that --init asks for: zero, normal:SD, or the final model of a trace.
/// @param width  its elements
/// @throws BadInput
std::vector<double> initial_model(const Settings& settings, std::uint64_t seed, std::int64_t width);

}  // namespace quorate
