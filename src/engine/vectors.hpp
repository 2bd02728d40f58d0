// SPDX-License-Identifier: BSD-2-Clause
// Eigen's operations on vectors, compiled once; in a fixed order whatever the address.
#pragma once

#include <span>

namespace quorate {

void divide(std::span<double> x, double divisor);

/// Of vectors of one length.
double inner_product(std::span<const double> x, std::span<const double> y);

}  // namespace quorate
