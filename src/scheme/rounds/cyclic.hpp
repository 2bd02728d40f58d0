// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "code/gradient_code.hpp"
#include "scheme/rounds/schemes.hpp"

namespace quorate {

/// Makes the cyclic code that --stragglers and --coefficients ask for.
/// @throws Refusal if there is no such code for so many workers
GradientCode chosen_cyclic_code(Coefficients coefficients, int stragglers, const Problem& problem);

}  // namespace quorate
