// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/arguments.hpp"
#include "straggler/delays.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

class Exponential final : public RandomDelay<ShiftedExponentialDelay> {
public:
    using RandomDelay::RandomDelay;

    double draw(int machine, std::int64_t draw, double) override
    {
        return given_.shift + draws_.stream(machine, draw).exponential(given_.mean);
    }
    // Between one answer and the next there is the least of those that are left.
    std::optional<double> mean_of_order(int k, int n) const override
    {
        double sum = given_.shift;
        for (int left = n; left > n - k; --left) sum += given_.mean / left;
        return sum;
    }
};

}  // namespace

DelayEntry<ExponentialDelay> ExponentialDelay::entry()
{
    return {.name = "exponential",
            .arguments = {{&ExponentialDelay::mean, "MEAN", value_bounds}},
            .text = "independent exponential delays of that mean, in seconds",
            .make = [](const ExponentialDelay& given, const DelaySetup& setup) {
                return std::make_unique<Exponential>(
                    ShiftedExponentialDelay{.shift = 0, .mean = given.mean}, setup);
            }};
}

DelayEntry<ShiftedExponentialDelay> ShiftedExponentialDelay::entry()
{
    return {.name = "shifted-exponential",
            .arguments = {{&ShiftedExponentialDelay::shift, "SHIFT", value_bounds},
                          {&ShiftedExponentialDelay::mean, "MEAN", value_bounds}},
            .text = "SHIFT and an exponential delay of mean MEAN on top: mean SHIFT + MEAN",
            .source = "Lee et al., arXiv 1512.02673",
            .make = construct_a<Exponential>};
}

}  // namespace quorate
