// SPDX-License-Identifier: BSD-2-Clause
#include "base/random.hpp"
#include "straggler/delay.hpp"

namespace quorate {

namespace {

class ExponentialDelay final : public DelayModel {
public:
    ExponentialDelay(const DelaySetup& setup, double mean)
        : seed_(setup.seed), purpose_(setup.purpose), mean_(mean)
    {
    }

    double draw(int machine, std::int64_t draw, double) override
    {
        Stream stream(seed_, purpose_, static_cast<std::uint32_t>(machine),
                      static_cast<std::uint32_t>(draw));
        return stream.exponential(mean_);
    }

private:
    std::uint64_t seed_;
    Purpose purpose_;
    double mean_;
};

}  // namespace

Entry<MakeDelay> exponential_delay_entry()
{
    return {.name = "exponential",
            .arguments = "MEAN",
            .text = "independent exponential delays of that mean, in seconds",
            .source = "",
            .options = {},
            .make = [](const Settings& settings,
                       const DelaySetup& setup) -> std::unique_ptr<DelayModel> {
                return std::make_unique<ExponentialDelay>(setup,
                                                          delay_arguments(settings, setup)[0]);
            }};
}

}  // namespace quorate
