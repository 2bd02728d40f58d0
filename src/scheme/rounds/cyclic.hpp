// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "code/gradient_code.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// The option --coefficients deterministic|random|ones.
Option coefficients_option();

/// Makes the cyclic code that --stragglers and --coefficients ask for.
/// @throws BadInput if there is no such code for so many workers
GradientCode chosen_cyclic_code(const Settings& settings, const Problem& problem);

}  // namespace quorate
