// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/delay.hpp"

namespace quorate {

namespace {

class ConstantDelay final : public DelayModel {
public:
    explicit ConstantDelay(double seconds) : seconds_(seconds) {}
    double draw(int, std::int64_t, double) override { return seconds_; }

private:
    double seconds_;
};

}  // namespace

Entry<MakeDelay> no_delay_entry()
{
    return {.name = "none",
            .arguments = "",
            .text = "no injected delay",
            .source = "",
            .options = {},
            .make = [](const Settings& settings,
                       const DelaySetup& setup) -> std::unique_ptr<DelayModel> {
                delay_arguments(settings, setup);
                return std::make_unique<ConstantDelay>(setup.neutral);
            }};
}

Entry<MakeDelay> constant_delay_entry()
{
    return {.name = "constant",
            .arguments = "SECONDS",
            .text = "the same delay for every worker and round",
            .source = "",
            .options = {},
            .make = [](const Settings& settings,
                       const DelaySetup& setup) -> std::unique_ptr<DelayModel> {
                return std::make_unique<ConstantDelay>(delay_arguments(settings, setup)[0]);
            }};
}

}  // namespace quorate
