// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/arguments.hpp"
#include "straggler/keyed.hpp"

namespace quorate {

namespace {

// Stragglers that last: each machine is a Markov chain of two states, one step a draw. It begins in
// its stationary distribution, so every draw is bad with probability p_bad / (p_bad + p_good); bad
// times last 1 / p_good draws on average, and draws k apart have correlation
// (1 - p_bad - p_good)^k.
class GilbertElliottDelay final : public DelayModel {
public:
    GilbertElliottDelay(const DelaySetup& setup, double p_bad, double p_good, double value)
        : draws_(setup), p_bad_(p_bad), p_good_(p_good), value_(value), neutral_(setup.neutral),
          last_(static_cast<std::size_t>(setup.machines))
    {
    }

    // A later draw than the last costs O(distance); an earlier one begins the chain anew.
    double draw(int machine, std::int64_t draw, double) override
    {
        auto& state = last_.at(static_cast<std::size_t>(machine));
        if (draw < state.draw) state = {};
        while (state.draw < draw) {
            ++state.draw;
            const double uniform = draws_.stream(machine, state.draw).uniform();
            if (state.draw == 0)
                state.bad = uniform < p_bad_ / (p_bad_ + p_good_);
            else
                state.bad = state.bad ? uniform >= p_good_ : uniform < p_bad_;
        }
        return state.bad ? value_ : neutral_;
    }

private:
    struct State {
        std::int64_t draw = -1;
        bool bad = false;
    };

    Draws draws_;
    double p_bad_, p_good_, value_, neutral_;
    std::vector<State> last_;
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
                const auto numbers = arguments.numbers();
                const auto words = arguments.words();
                arguments.number("P_BAD", words[0], 1);
                arguments.number("P_GOOD", words[1], 1);
                if (numbers[0] + numbers[1] == 0)
                    arguments.refuse(", but P_BAD and P_GOOD are both 0, which never changes");
                return std::make_unique<GilbertElliottDelay>(setup, numbers[0], numbers[1],
                                                             numbers[2]);
            }};
}

}  // namespace quorate
