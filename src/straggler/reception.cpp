// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "straggler/arguments.hpp"
#include "straggler/delays.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

class Reception final : public RandomDelay<ReceptionDelay> {
public:
    Reception(const ReceptionDelay& given, const DelaySetup& setup) : RandomDelay(given, setup)
    {
        if (setup.purpose == Purpose::slowdown)
            throw Refusal(setup.option,
                          ", which delays messages and slows no computation: use it as --delay");
    }

    double draw(int machine, std::int64_t draw, double) override
    {
        return std::abs(given_.deviation * draws_.stream(machine, draw).normal());
    }

    bool on_reception() const override { return true; }
};

}  // namespace

DelayEntry<ReceptionDelay> ReceptionDelay::entry()
{
    return {.name = "gauss-recv",
            .arguments = {{&ReceptionDelay::deviation, "SD", value_bounds}},
            .text = "messages are late, not computations: |normal| of that deviation, mean 0.8 SD",
            .make = construct_a<Reception>};
}

}  // namespace quorate
