// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/arguments.hpp"
#include "straggler/delays.hpp"

namespace quorate {

namespace {

class Constant final : public DelayModel {
public:
    explicit Constant(double value) : value_(value) {}
    double draw(int, std::int64_t, double) override { return value_; }
    std::optional<double> mean_of_order(int, int) const override { return value_; }

private:
    double value_;
};

}  // namespace

DelayEntry<NoDelay> NoDelay::entry()
{
    return {.name = "none",
            .text = "no injected delay",
            .make = [](const NoDelay&, const DelaySetup& setup) {
                return std::make_unique<Constant>(setup.neutral);
            }};
}

DelayEntry<ConstantDelay> ConstantDelay::entry()
{
    return {.name = "constant",
            .arguments = {{&ConstantDelay::value, "SECONDS", value_bounds}},
            .text = "the same delay for every worker and round",
            .make = [](const ConstantDelay& given, const DelaySetup&) {
                return std::make_unique<Constant>(given.value);
            }};
}

}  // namespace quorate
