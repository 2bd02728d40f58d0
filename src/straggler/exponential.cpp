// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/arguments.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

class ExponentialDelay final : public DelayModel {
public:
    ExponentialDelay(const DelaySetup& setup, double shift, double mean)
        : draws_(setup), shift_(shift), mean_(mean)
    {
    }

    double draw(int machine, std::int64_t draw, double) override
    {
        return shift_ + draws_.stream(machine, draw).exponential(mean_);
    }
    // Between one answer and the next there is the least of those that are left.
    std::optional<double> mean_of_order(int k, int n) const override
    {
        double sum = shift_;
        for (int left = n; left > n - k; --left) sum += mean_ / left;
        return sum;
    }

private:
    Draws draws_;
    double shift_, mean_;
};

}  // namespace

Entry<MakeDelay> exponential_delay_entry()
{
    return {.name = "exponential",
            .arguments = "MEAN",
            .text = "independent exponential delays of that mean, in seconds",
            .make = [](const Settings& settings, const DelaySetup& setup) {
                const auto values = DelayArguments(settings, setup).values();
                return std::make_unique<ExponentialDelay>(setup, 0, values[0]);
            }};
}

Entry<MakeDelay> shifted_exponential_delay_entry()
{
    return {.name = "shifted-exponential",
            .arguments = "SHIFT,MEAN",
            .text = "SHIFT and an exponential delay of mean MEAN on top: mean SHIFT + MEAN",
            .source = "Lee et al., arXiv 1512.02673",
            .make = [](const Settings& settings, const DelaySetup& setup) {
                const auto values = DelayArguments(settings, setup).values();
                return std::make_unique<ExponentialDelay>(setup, values[0], values[1]);
            }};
}

}  // namespace quorate
