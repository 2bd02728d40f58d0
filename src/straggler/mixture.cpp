// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "straggler/arguments.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

struct Component {
    double mean, deviation, weight;
};

// |N(mean, deviation)| of a component chosen by weight. Draws are clipped at the largest mean + 5
// deviations, so that none lies far outside.
class MixtureDelay final : public DelayModel {
public:
    MixtureDelay(const DelaySetup& setup, std::vector<Component> components)
        : draws_(setup), components_(std::move(components))
    {
        for (const auto& one : components_) clip_ = std::max(clip_, one.mean + 5 * one.deviation);
    }

    double draw(int machine, std::int64_t draw, double) override
    {
        auto stream = draws_.stream(machine, draw);
        double left = stream.uniform();
        // Rounding may leave the sum of the weights a little below 1. The last component takes the
        // rest.
        auto chosen = components_.begin();
        while (chosen + 1 != components_.end() && left >= chosen->weight)
            left -= (chosen++)->weight;
        return std::min(std::abs(chosen->mean + chosen->deviation * stream.normal()), clip_);
    }

private:
    Draws draws_;
    std::vector<Component> components_;
    double clip_ = 0;
};

std::vector<Component> components_of(const DelayArguments& arguments)
{
    std::vector<Component> all;
    double sum = 0;
    for (const auto& word : arguments.words()) {
        const auto parts = split(word, '/');
        if (parts.size() != 3)
            arguments.refuse(", but " + (word.empty() ? "a component" : word) +
                             " is not MEAN/SD/WEIGHT");
        all.push_back({arguments.value("MEAN", parts[0]), arguments.value("SD", parts[1]),
                       arguments.number("WEIGHT", parts[2], 1)});
        sum += all.back().weight;
    }
    if (std::abs(sum - 1) > 1e-9)
        arguments.refuse(fmt::format(", but the weights sum to {:.12g}, not to 1", sum));
    return all;
}

}  // namespace

Entry<MakeDelay> mixture_delay_entry()
{
    return {.name = "mixture",
            .arguments = "MEAN/SD/WEIGHT,...",
            .text =
                "absolute values of normal draws from components; weights sum to 1; clipped at "
                "the largest MEAN + 5 SD",
            .make = [](const Settings& settings, const DelaySetup& setup) {
                return std::make_unique<MixtureDelay>(
                    setup, components_of(DelayArguments(settings, setup)));
            }};
}

Entry<MakeDelay> niagara_delay_entry()
{
    return {.name = "niagara",
            .text =
                "induced delays of Anytime Minibatch, seconds: mixture "
                "0/0/0.4,0/0.4/0.3,2/0.3/0.2,5/0.3/0.1, mean 1.0 s",
            .source = "Anytime Minibatch, arXiv 1810.02976, and thadikari/anytime",
            .make = [](const Settings& settings, const DelaySetup& setup) {
                DelayArguments(settings, setup).all_words();
                return std::make_unique<MixtureDelay>(
                    setup, std::vector<Component>{
                               {0, 0, 0.4}, {0, 0.4, 0.3}, {2, 0.3, 0.2}, {5, 0.3, 0.1}});
            }};
}

Entry<MakeDelay> cedar_delay_entry()
{
    return {.name = "cedar",
            .text =
                "induced delays of Anytime Minibatch, a tenth of a second: mixture "
                "0/0/0.4,0.05/0.04/0.3,0.15/0.03/0.2,0.25/0.03/0.1, mean 71 ms",
            .source = "thadikari/anytime",
            .make = [](const Settings& settings, const DelaySetup& setup) {
                DelayArguments(settings, setup).all_words();
                return std::make_unique<MixtureDelay>(
                    setup,
                    std::vector<Component>{
                        {0, 0, 0.4}, {0.05, 0.04, 0.3}, {0.15, 0.03, 0.2}, {0.25, 0.03, 0.1}});
            }};
}

}  // namespace quorate
