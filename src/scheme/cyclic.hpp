// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "code/gradient_code.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// --coefficients deterministic|random|ones.
Option coefficients_option();

/// The cyclic code that --stragglers and --coefficients ask for. @throws BadInput
GradientCode chosen_cyclic_code(const Settings& settings, const Problem& problem);

}  // namespace quorate
