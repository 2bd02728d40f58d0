// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "straggler/arguments.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

// MEDIAN exp(SIGMA N), N a standard normal number: all moments are finite, however heavy the tail
// looks.
class LognormalDelay final : public DelayModel {
public:
    LognormalDelay(const DelaySetup& setup, double median, double sigma)
        : draws_(setup), median_(median), sigma_(sigma)
    {
    }

    double draw(int machine, std::int64_t draw, double) override
    {
        constexpr double most = std::numeric_limits<double>::max();  // large SIGMA overflow
        const double factor = std::exp(sigma_ * draws_.stream(machine, draw).normal());
        return std::min(median_ * std::min(factor, most), most);
    }

    std::optional<double> mean_of_order(int k, int n) const override
    {
        if (k != 1 || n != 1) return std::nullopt;
        return median_ * std::exp(sigma_ * sigma_ / 2);
    }

private:
    Draws draws_;
    double median_, sigma_;
};

}  // namespace

Entry<MakeDelay> lognormal_delay_entry()
{
    return {.name = "lognormal",
            .arguments = "MEDIAN,SIGMA",
            .text =
                "heavy tail: the logarithm is normal with standard deviation SIGMA; mean MEDIAN "
                "exp(SIGMA^2 / 2)",
            .make = [](const Settings& settings, const DelaySetup& setup) {
                const DelayArguments arguments(settings, setup);
                const auto words = arguments.all_words();
                return std::make_unique<LognormalDelay>(setup, arguments.value("MEDIAN", words[0]),
                                                        arguments.number("SIGMA", words[1]));
            }};
}

}  // namespace quorate
