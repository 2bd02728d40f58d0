// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "straggler/arguments.hpp"
#include "straggler/delays.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

// P(X > x) = (scale / x)^shape for x >= scale: the mean is scale shape / (shape - 1), and infinite
// for a shape of at most 1.
class Pareto final : public RandomDelay<ParetoDelay> {
public:
    using RandomDelay::RandomDelay;

    double draw(int machine, std::int64_t draw, double) override
    {
        constexpr double most = std::numeric_limits<double>::max();  // shapes below 0.05 overflow
        const auto [scale, shape] = given_;
        const double tail = std::pow(draws_.stream(machine, draw).uniform(), -1 / shape);
        return std::min(scale * std::min(tail, most), most);
    }

    // scale n! / (n - k)! gamma(n - k + 1 - 1 / shape) / gamma(n + 1 - 1 / shape)
    std::optional<double> mean_of_order(int k, int n) const override
    {
        const auto [scale, shape] = given_;
        const double above = n - k + 1;
        if (above <= 1 / shape) return std::numeric_limits<double>::infinity();
        return scale * std::exp(std::lgamma(n + 1.0) - std::lgamma(n + 1 - 1 / shape) +
                                std::lgamma(above - 1 / shape) - std::lgamma(above));
    }
};

}  // namespace

DelayEntry<ParetoDelay> ParetoDelay::entry()
{
    return {.name = "pareto",
            .arguments = {{&ParetoDelay::scale, "SCALE", value_bounds},
                          {&ParetoDelay::shape, "SHAPE", {.lowest = above_zero}}},
            .text = "heavy tail: at least SCALE, above x with probability (SCALE/x)^SHAPE",
            .make = construct_a<Pareto>};
}

}  // namespace quorate
