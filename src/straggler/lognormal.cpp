// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "straggler/arguments.hpp"
#include "straggler/delays.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

// MEDIAN exp(SIGMA N), N a standard normal number: all moments are finite, however heavy the tail
// looks.
class Lognormal final : public RandomDelay<LognormalDelay> {
public:
    using RandomDelay::RandomDelay;

    double draw(int machine, std::int64_t draw, double) override
    {
        constexpr double most = std::numeric_limits<double>::max();  // large SIGMA overflow
        const double factor = std::exp(given_.sigma * draws_.stream(machine, draw).normal());
        return std::min(given_.median * std::min(factor, most), most);
    }

    std::optional<double> mean_of_order(int k, int n) const override
    {
        if (k != 1 || n != 1) return std::nullopt;
        return given_.median * std::exp(given_.sigma * given_.sigma / 2);
    }
};

}  // namespace

DelayEntry<LognormalDelay> LognormalDelay::entry()
{
    return {.name = "lognormal",
            .arguments = {{&LognormalDelay::median, "MEDIAN", value_bounds},
                          {&LognormalDelay::sigma, "SIGMA"}},
            .text =
                "heavy tail: the logarithm is normal with standard deviation SIGMA; mean MEDIAN "
                "exp(SIGMA^2 / 2)",
            .make = construct_a<Lognormal>};
}

}  // namespace quorate
