// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "data/data_set_writer.hpp"

namespace quorate {

/// Rows [first, first + count) of the logistic data of the original gradient-coding code: with a
/// random sign vector beta, a row is Gaussian with mean +-(1.5/p) beta and standard deviation
/// 10/sqrt(p) in each coordinate, and its label is +1 with probability sigma(x.beta).
/// Row r depends on the seed, p and r alone. O(count x p).
DenseRows two_gaussians(std::uint64_t seed, std::int64_t p, std::int64_t first, std::int64_t count);

}  // namespace quorate
