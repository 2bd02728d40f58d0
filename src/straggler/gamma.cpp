// SPDX-License-Identifier: BSD-2-Clause
#include "base/gamma.hpp"

#include "straggler/arguments.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

class GammaDelay final : public DelayModel {
public:
    GammaDelay(const DelaySetup& setup, double mean, double deviation)
        : draws_(setup), mean_(mean), deviation_(deviation)
    {
    }

    double draw(int machine, std::int64_t draw, double) override
    {
        auto stream = draws_.stream(machine, draw);
        return gamma(stream, mean_, deviation_);
    }

private:
    Draws draws_;
    double mean_, deviation_;
};

}  // namespace

Entry<MakeDelay> gamma_delay_entry()
{
    return {.name = "gamma",
            .arguments = "MEAN,SD",
            .text = "independent gamma delays of that mean and standard deviation",
            .source = "Severinson et al., arXiv 2111.13877",
            .make = [](const Settings& settings, const DelaySetup& setup) {
                const auto values = DelayArguments(settings, setup).values();
                return std::make_unique<GammaDelay>(setup, values[0], values[1]);
            }};
}

}  // namespace quorate
