// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "driver/training.hpp"

namespace quorate {

/// A warning if --step is more than stale gradients allow, where that is known: gradient descent on a
/// linear model whose loss has bounded curvature. Empty otherwise. Reads 4096 rows at most.
/// Coordinator only.
std::string stability_warning(const Settings& settings, const Training& training);

}  // namespace quorate
