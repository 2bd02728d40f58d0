// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/arguments.hpp"
#include "straggler/burst_chain.hpp"
#include "straggler/delays.hpp"

namespace quorate {

namespace {

// Stragglers that last: each machine is a Markov chain of two states, one step a draw.
class GilbertElliott final : public DelayModel {
public:
    GilbertElliott(const GilbertElliottDelay& given, const DelaySetup& setup)
        : chain_(setup, given.p_bad, given.p_good), value_(given.value), neutral_(setup.neutral)
    {
        refuse_unless_it_changes(given.p_bad, given.p_good);
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

DelayEntry<GilbertElliottDelay> GilbertElliottDelay::entry()
{
    return {.name = "gilbert-elliott",
            .arguments = {{&GilbertElliottDelay::p_bad, "P_BAD", probability_bounds},
                          {&GilbertElliottDelay::p_good, "P_GOOD", probability_bounds},
                          {&GilbertElliottDelay::value, "VALUE", value_bounds}},
            .text =
                "bursts: a machine turns bad with probability P_BAD a draw, good with P_GOOD; "
                "bad draws are VALUE",
            .source = "Gilbert, BSTJ 1960; Elliott, BSTJ 1963",
            .make = construct_a<GilbertElliott>};
}

}  // namespace quorate
