// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "straggler/arguments.hpp"
#include "straggler/delays.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

// |N(mean, deviation)| of a component chosen by weight. Draws are clipped at the largest mean + 5
// deviations, so that none lies far outside.
class Mixture final : public RandomDelay<MixtureDelay> {
public:
    Mixture(const MixtureDelay& given, const DelaySetup& setup) : RandomDelay(given, setup)
    {
        double sum = 0;
        for (const auto& one : given.components) {
            sum += one.weight;
            clip_ = std::max(clip_, one.mean + 5 * one.deviation);
        }
        if (std::abs(sum - 1) > 1e-9)
            throw Refusal("WEIGHT", fmt::format(", but the weights sum to {:.12g}, not to 1", sum));
    }

    double draw(int machine, std::int64_t draw, double) override
    {
        auto stream = draws_.stream(machine, draw);
        double left = stream.uniform();
        // Rounding may leave the sum of the weights a little below 1. The last component takes the
        // rest.
        auto chosen = given_.components.begin();
        while (chosen + 1 != given_.components.end() && left >= chosen->weight)
            left -= (chosen++)->weight;
        return std::min(std::abs(chosen->mean + chosen->deviation * stream.normal()), clip_);
    }

private:
    double clip_ = 0;
};

}  // namespace

void read_argument(std::vector<MixtureDelay::Component>& all, const GivenArgument& given)
{
    all.clear();
    for (const auto& word : given.words) {
        const auto parts = split(word, '/');
        if (parts.size() != 3)
            given.component.refuse(", but " + (word.empty() ? "a component" : word) +
                                   " is not MEAN/SD/WEIGHT");
        auto& one = all.emplace_back();
        read_argument(one.mean, {given.component, "MEAN", {parts[0]}, value_bounds});
        read_argument(one.deviation, {given.component, "SD", {parts[1]}, value_bounds});
        read_argument(one.weight, {given.component, "WEIGHT", {parts[2]}, probability_bounds});
    }
}

std::string written_argument(const std::vector<MixtureDelay::Component>& all, const Bounds&)
{
    std::string words;
    for (const auto& [mean, deviation, weight] : all)
        words += fmt::format("{}{}/{}/{}", words.empty() ? "" : ",", mean, deviation, weight);
    return words;
}

DelayEntry<MixtureDelay> MixtureDelay::entry()
{
    return {.name = "mixture",
            .arguments = {{&MixtureDelay::components, "MEAN/SD/WEIGHT,..."}},
            .text =
                "absolute values of normal draws from components; weights sum to 1; clipped at "
                "the largest MEAN + 5 SD",
            .make = construct_a<Mixture>};
}

DelayEntry<NiagaraDelay> NiagaraDelay::entry()
{
    return {.name = "niagara",
            .text =
                "induced delays of Anytime Minibatch, seconds: mixture "
                "0/0/0.4,0/0.4/0.3,2/0.3/0.2,5/0.3/0.1, mean 1.0 s",
            .source = "Anytime Minibatch, arXiv 1810.02976, and thadikari/anytime",
            .make = [](const NiagaraDelay&, const DelaySetup& setup) {
                return std::make_unique<Mixture>(
                    MixtureDelay{{{0, 0, 0.4}, {0, 0.4, 0.3}, {2, 0.3, 0.2}, {5, 0.3, 0.1}}},
                    setup);
            }};
}

DelayEntry<CedarDelay> CedarDelay::entry()
{
    return {.name = "cedar",
            .text =
                "induced delays of Anytime Minibatch, a tenth of a second: mixture "
                "0/0/0.4,0.05/0.04/0.3,0.15/0.03/0.2,0.25/0.03/0.1, mean 71 ms",
            .source = "thadikari/anytime",
            .make = [](const CedarDelay&, const DelaySetup& setup) {
                return std::make_unique<Mixture>(
                    MixtureDelay{
                        {{0, 0, 0.4}, {0.05, 0.04, 0.3}, {0.15, 0.03, 0.2}, {0.25, 0.03, 0.1}}},
                    setup);
            }};
}

}  // namespace quorate
