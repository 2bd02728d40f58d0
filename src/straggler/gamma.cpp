// SPDX-License-Identifier: BSD-2-Clause
#include "base/gamma.hpp"

#include "straggler/arguments.hpp"
#include "straggler/delays.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

class Gamma final : public RandomDelay<GammaDelay> {
public:
    using RandomDelay::RandomDelay;

    double draw(int machine, std::int64_t draw, double) override
    {
        auto stream = draws_.stream(machine, draw);
        return gamma(stream, given_.mean, given_.deviation);
    }
};

}  // namespace

DelayEntry<GammaDelay> GammaDelay::entry()
{
    return {.name = "gamma",
            .arguments = {{&GammaDelay::mean, "MEAN", value_bounds},
                          {&GammaDelay::deviation, "SD", value_bounds}},
            .text = "independent gamma delays of that mean and standard deviation",
            .source = "Severinson et al., arXiv 2111.13877",
            .make = construct_a<Gamma>};
}

}  // namespace quorate
