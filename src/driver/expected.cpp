// SPDX-License-Identifier: BSD-2-Clause
#include "driver/expected.hpp"

#include <cmath>

namespace quorate {

std::optional<double> expected_delay(const Settings& settings, const Training& training)
{
    const auto n = training.workers;
    const auto& known = chosen(schemes(), settings, "scheme").properties.blocked;
    if (!known || settings.text("slowdown") != "none") return std::nullopt;
    const auto blocked = known(settings, n);
    if (blocked.empty()) return std::nullopt;
    double expected = 0;
    for (int k = 1; k <= n; ++k) {
        const auto missing = static_cast<std::size_t>(n - k);
        const double probability = blocked[missing + 1] - blocked[missing];
        if (probability <= 0) continue;
        const auto mean = training.delays->mean_of_order(k, n);
        if (!mean || !std::isfinite(*mean)) return std::nullopt;
        expected += probability * *mean;
    }
    return expected;
}

}  // namespace quorate
