// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>

#include "base/random.hpp"

namespace quorate {

/// A gamma variable of that mean and standard deviation: shape (mean / deviation)^2. Takes a few
/// numbers of the stream. Marsaglia and Tsang, ACM TOMS 26 (2000) 363.
/// @param mean, deviation  at least 0; where one of them is 0 the result is the mean
inline double gamma(Stream& stream, double mean, double deviation)
{
    if (mean == 0 || deviation == 0) return mean;
    const double shape = (mean / deviation) * (mean / deviation);
    // A shape below 1 is raised by 1, and the variable multiplied with a power of a uniform one.
    const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
        const double x = stream.normal();
        const double cube = (1 + c * x) * (1 + c * x) * (1 + c * x);
        if (cube <= 0) continue;
        if (std::log(stream.uniform()) >= x * x / 2 + d - d * cube + d * std::log(cube)) continue;
        const double raised = shape < 1 ? std::pow(stream.uniform(), 1 / shape) : 1;
        return mean * (d * cube * raised) / shape;
    }
}

}  // namespace quorate
