// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include "straggler/arguments.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

// P(X > x) = (scale / x)^shape for x >= scale: the mean is scale shape / (shape - 1), and infinite
// for a shape of at most 1.
class ParetoDelay final : public DelayModel {
public:
    ParetoDelay(const DelaySetup& setup, double scale, double shape)
        : draws_(setup), scale_(scale), shape_(shape)
    {
    }

    double draw(int machine, std::int64_t draw, double) override
    {
        constexpr double most = std::numeric_limits<double>::max();  // shapes below 0.05 overflow
        const double tail = std::pow(draws_.stream(machine, draw).uniform(), -1 / shape_);
        return std::min(scale_ * std::min(tail, most), most);
    }

    // scale n! / (n - k)! gamma(n - k + 1 - 1 / shape) / gamma(n + 1 - 1 / shape)
    std::optional<double> mean_of_order(int k, int n) const override
    {
        const double above = n - k + 1;
        if (above <= 1 / shape_) return std::numeric_limits<double>::infinity();
        return scale_ * std::exp(std::lgamma(n + 1.0) - std::lgamma(n + 1 - 1 / shape_) +
                                 std::lgamma(above - 1 / shape_) - std::lgamma(above));
    }

private:
    Draws draws_;
    double scale_, shape_;
};

}  // namespace

Entry<MakeDelay> pareto_delay_entry()
{
    return {.name = "pareto",
            .arguments = "SCALE,SHAPE",
            .text = "heavy tail: at least SCALE, above x with probability (SCALE/x)^SHAPE",
            .make = [](const Settings& settings, const DelaySetup& setup) {
                const DelayArguments arguments(settings, setup);
                const auto words = arguments.all_words();
                const double scale = arguments.value("SCALE", words[0]);
                const double shape = arguments.number("SHAPE", words[1]);
                if (shape == 0) arguments.refuse(", but SHAPE must be above 0");
                return std::make_unique<ParetoDelay>(setup, scale, shape);
            }};
}

}  // namespace quorate
