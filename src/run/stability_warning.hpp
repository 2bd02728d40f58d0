// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "run/training.hpp"

namespace quorate {

/// Returns a warning if --step is larger than stale gradients allow. That bound is known only for
/// gradient descent on a linear model whose loss has bounded curvature; in all other cases the
/// result is empty. Coordinator only. Reads as curvature_of().
/// @throws BadInput, Failure  as DataSet::read()
std::string stability_warning(const Settings& settings, const Training& training);

}  // namespace quorate
