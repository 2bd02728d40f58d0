// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/arguments.hpp"
#include "straggler/burst_chain.hpp"

namespace quorate {

namespace {

// Stragglers that last: each machine is a Markov chain of two states, one step a draw.
class GilbertElliottDelay final : public DelayModel {
public:
    GilbertElliottDelay(const DelaySetup& setup, double p_bad, double p_good, double value)
        : chain_(setup, p_bad, p_good), value_(value), neutral_(setup.neutral)
    {
    }

    double draw(int machine, std::int64_t draw, double) override
    {
        return chain_.bad(machine, draw) ? value_ : neutral_;
    }

private:
    BurstChain chain_;
    double value_, neutral_;
};

}  // namespace

Entry<MakeDelay> gilbert_elliott_delay_entry()
{
    return {.name = "gilbert-elliott",
            .arguments = "P_BAD,P_GOOD,VALUE",
            .text =
                "bursts: a machine turns bad with probability P_BAD a draw, good with P_GOOD; "
                "bad draws are VALUE",
            .source = "Gilbert, BSTJ 1960; Elliott, BSTJ 1963",
            .make = [](const Settings& settings, const DelaySetup& setup) {
                const DelayArguments arguments(settings, setup);
                const auto words = arguments.all_words();
                const double p_bad = arguments.number("P_BAD", words[0], 1);
                const double p_good = arguments.number("P_GOOD", words[1], 1);
                if (p_bad + p_good == 0)
                    arguments.refuse(", but P_BAD and P_GOOD are both 0, which never changes");
                return std::make_unique<GilbertElliottDelay>(setup, p_bad, p_good,
                                                             arguments.value("VALUE", words[2]));
            }};
}

}  // namespace quorate
