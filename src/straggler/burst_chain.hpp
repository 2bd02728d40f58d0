// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "straggler/keyed.hpp"

namespace quorate {

/// A Markov chain of two states for each machine. It begins in its stationary distribution, so
/// every step is bad with probability p_bad / (p_bad + p_good); bad times last 1 / p_good steps on
/// average, and steps k apart have correlation (1 - p_bad - p_good)^k. Local.
class BurstChain {
public:
    /// @param keys  added to the number of a machine, where other draws are keyed by that number
    BurstChain(const DelaySetup& setup, double p_bad, double p_good, int keys = 0)
        : draws_(setup), p_bad_(p_bad), p_good_(p_good), keys_(keys),
          last_(static_cast<std::size_t>(setup.machines))
    {
    }

    /// Whether a step is bad. A later step than the last costs O(distance); an earlier one begins
    /// the chain anew.
    bool bad(int machine, std::int64_t step)
    {
        auto& state = last_.at(static_cast<std::size_t>(machine));
        if (step < state.step) state = {};
        while (state.step < step) {
            ++state.step;
            const double uniform = draws_.stream(keys_ + machine, state.step).uniform();
            if (state.step == 0)
                state.bad = uniform < p_bad_ / (p_bad_ + p_good_);
            else
                state.bad = state.bad ? uniform >= p_good_ : uniform < p_bad_;
        }
        return state.bad;
    }

private:
    struct State {
        std::int64_t step = -1;
        bool bad = false;
    };

    Draws draws_;
    double p_bad_, p_good_;
    int keys_;
    std::vector<State> last_;
};

}  // namespace quorate
