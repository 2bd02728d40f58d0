// SPDX-License-Identifier: BSD-2-Clause
#include "run/expected.hpp"

#include <cmath>

namespace quorate {

namespace {

std::optional<ExpectedRound> between_updates(const Pace& pace, const DelayModel& delays)
{
    const auto mean = delays.mean_of_order(1, 1);
    if (!pace.steady || !mean || !std::isfinite(*mean)) return std::nullopt;
    return ExpectedRound{*mean / pace.updates, 1 / pace.updates};
}

}  // namespace

std::optional<ExpectedRound> expected_round(const Settings& settings, const Training& training)
{
    const auto n = training.workers;
    const auto& of = chosen(schemes(), settings, "scheme").properties;
    for (const auto& one : delay_options)
        if (one.purpose != Purpose::delay && settings.text(one.name) != "none") return std::nullopt;
    auto& delays = training.stragglers.of("delay");
    if (of.pace) return between_updates(of.pace(settings, n), delays);
    if (!of.blocked) return std::nullopt;
    const auto blocked = of.blocked(settings, n);
    if (blocked.empty()) return std::nullopt;
    double expected = 0;
    for (int k = 1; k <= n; ++k) {
        const auto missing = static_cast<std::size_t>(n - k);
        const double probability = blocked[missing + 1] - blocked[missing];
        if (probability <= 0) continue;
        const auto mean = delays.mean_of_order(k, n);
        if (!mean || !std::isfinite(*mean)) return std::nullopt;
        expected += probability * *mean;
    }
    return ExpectedRound{expected};
}

}  // namespace quorate
