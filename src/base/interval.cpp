// SPDX-License-Identifier: BSD-2-Clause
#include "base/interval.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace quorate {

std::optional<double> half_interval(const std::vector<double>& values)
{
    const bool finite = std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
    if (values.size() < 2 || !finite) return std::nullopt;
    // Equal values have an interval of width 0; the sum below might round.
    if (std::ranges::all_of(values, [&](double x) { return x == values[0]; })) return 0;
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double square = 0;
    for (const double one : values) square += (one - mean) * (one - mean);
    const boost::math::students_t student(n - 1);
    return boost::math::quantile(student, 0.975) * std::sqrt(square / (n - 1) / n);
}

}  // namespace quorate
