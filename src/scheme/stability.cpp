// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/stability.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace quorate {

double stable_step(double staleness)
{
    return 2 * std::sin(std::numbers::pi / (2 * (2 * staleness + 1)));
}

double stable_local_step(double staleness, double steps, double outer)
{
    return std::min(2.0, stable_step(staleness) / (steps * outer));
}

double stable_step_of_cycle(int d)
{
    constexpr double limits[] = {2, 2, 1.5, 1.172, 0.955, 0.804};
    return d <= 6 ? limits[d - 1] : 4.93 / d;
}

}  // namespace quorate
