// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "straggler/arguments.hpp"
#include "straggler/delays.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

class HalfNormal final : public RandomDelay<HalfNormalDelay> {
public:
    using RandomDelay::RandomDelay;

    double draw(int machine, std::int64_t draw, double) override
    {
        return std::abs(given_.deviation * draws_.stream(machine, draw).normal());
    }
};

}  // namespace

DelayEntry<HalfNormalDelay> HalfNormalDelay::entry()
{
    return {.name = "half-normal",
            .arguments = {{&HalfNormalDelay::deviation, "SD", value_bounds}},
            .text = "independent |normal| of that deviation, mean 0.8 SD",
            .source = "thadikari/asyncTimed, whose gauss-recv is this one of messages",
            .make = construct_a<HalfNormal>};
}

}  // namespace quorate
