// SPDX-License-Identifier: BSD-2-Clause
// Scoring models while the run goes on, on a rank that does nothing else. The coordinator sends a model
// when the scorer is free, and looks for an answer once a round; it never waits.
#pragma once

#include <functional>
#include <optional>

#include "mpi/evaluation.hpp"

namespace quorate {

/// The coordinator's side.
class LiveScoring {
public:
    /// @param comm  of its own: its messages are no worker's  @param scorer  the rank that scores
    LiveScoring(const mpi::Comm& comm, int scorer) : comm_(comm), scorer_(scorer) {}

    /// A model that may be scored: it is if the scorer is free. Copies it; never waits.
    /// @return whether it is
    bool offer(std::int64_t round, const Point& model);
    /// Takes an answer if there is one. Never waits.
    void poll(const std::function<void(std::int64_t round, const Scored&)>& scored);
    /// Waits for the answer to the model that is being scored, and tells the scorer to stop; once.
    void finish(const std::function<void(std::int64_t round, const Scored&)>& scored);

private:
    const mpi::Comm& comm_;
    int scorer_;
    mpi::Pool pool_;
    std::optional<mpi::Transfer> sending_, incoming_;
    bool finished_ = false;
    std::optional<std::int64_t> asked_;  // the round of the model that is being scored
};

/// The scorer's side: reads all rows, and scores until it is told to stop.
void score_live(const mpi::Comm& comm, const DataSet& data, const Model& model);

}  // namespace quorate
