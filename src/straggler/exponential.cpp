// SPDX-License-Identifier: BSD-2-Clause
#include "base/random.hpp"
#include "straggler/delay.hpp"

namespace quorate {

namespace {

class ExponentialDelay final : public DelayModel {
public:
    ExponentialDelay(std::uint64_t seed, double mean) : seed_(seed), mean_(mean) {}

    double delay(int machine, std::int64_t draw) override
    {
        Stream stream(seed_, Purpose::delay, static_cast<std::uint32_t>(machine),
                      static_cast<std::uint32_t>(draw));
        return stream.exponential(mean_);
    }

private:
    std::uint64_t seed_;
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
            .make = [](const Settings& settings, std::uint64_t seed,
                       int) -> std::unique_ptr<DelayModel> {
                return std::make_unique<ExponentialDelay>(seed, delay_arguments(settings)[0]);
            }};
}

}  // namespace quorate
