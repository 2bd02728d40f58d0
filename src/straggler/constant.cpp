// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/arguments.hpp"

namespace quorate {

namespace {

class ConstantDelay final : public DelayModel {
public:
    explicit ConstantDelay(double value) : value_(value) {}
    double draw(int, std::int64_t, double) override { return value_; }
    std::optional<double> mean_of_order(int, int) const override { return value_; }

private:
    double value_;
};

}  // namespace

Entry<MakeDelay> no_delay_entry()
{
    return {.name = "none",
            .text = "no injected delay",
            .make = [](const Settings& settings, const DelaySetup& setup) {
                DelayArguments(settings, setup).all_words();
                return std::make_unique<ConstantDelay>(setup.neutral);
            }};
}

Entry<MakeDelay> constant_delay_entry()
{
    return {.name = "constant",
            .arguments = "SECONDS",
            .text = "the same delay for every worker and round",
            .make = [](const Settings& settings, const DelaySetup& setup) {
                return std::make_unique<ConstantDelay>(DelayArguments(settings, setup).values()[0]);
            }};
}

}  // namespace quorate
