// SPDX-License-Identifier: BSD-2-Clause
// Operations of Eigen on vectors, compiled in one place. Their order of summation does not depend
// on the address of a vector, so that results agree to the last bit.
#pragma once

#include <span>

namespace quorate {

/// Divides each element of x. O(elements).
void divide(std::span<double> x, double divisor);

/// Returns the inner product of two vectors of the same length. O(elements).
double inner_product(std::span<const double> x, std::span<const double> y);

}  // namespace quorate
