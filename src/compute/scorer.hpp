// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>

#include "compute/scoring.hpp"

namespace quorate {

/// Receives the scores of a model, with the round that it was offered with.
using TakeScores = std::function<void(std::int64_t round, const Scored&)>;

/// Scores models while a run goes on, elsewhere. Local: used by the thread that makes the run.
class Scorer {
public:
    virtual ~Scorer() = default;
    /// Takes a model to be scored, if it is free. Never waits.
    /// @param round  what collect() tells with the scores
    /// @return whether it has taken the model
    virtual bool offer(std::int64_t round, const Point& model) = 0;
    /// Gives the scores that are there, in the order of offer().
    /// @param all  waits for those of all models that it has taken; else it never waits
    virtual void collect(const TakeScores& scored, bool all) = 0;
};

}  // namespace quorate
