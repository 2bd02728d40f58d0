// SPDX-License-Identifier: BSD-2-Clause
// Scores models while the run goes on (`--evaluate live`), on a rank that does nothing else. The
// coordinator sends a model when that rank, the scorer, is free, and looks for its answer once a
// round. It does not wait for the scorer before the end of the run.
#pragma once

#include <optional>

#include "compute/scorer.hpp"
#include "ranks/evaluation.hpp"
#include "transport/endpoint.hpp"

namespace quorate {

/// The coordinator's side. Local.
class LiveScoring final : public Scorer {
public:
    /// @param endpoint  for these messages only; must outlive this object
    /// @param scorer    the rank that scores
    LiveScoring(transport::Endpoint& endpoint, int scorer) : endpoint_(endpoint), scorer_(scorer) {}

    /// Sends a copy of the model. O(parameters).
    bool offer(std::int64_t round, const Point& model) override;
    void collect(const TakeScores& scored, bool all) override;
    /// Drops what the scorer is doing when that is done, and tells it to stop.
    void stop();

private:
    void poll(const TakeScores& scored);

    transport::Endpoint& endpoint_;
    int scorer_;
    std::optional<std::int64_t> asked_;  // the round of the model that is being scored
};

/// The scorer's side: scores one model after the other, on all cores, until it is told to stop.
/// Reads all rows again for each model. Local, but for its messages with rank 0.
/// @throws BadInput, Failure  as DataSet::read()
void score_live(transport::Endpoint& endpoint, const DataSet& data, const Model& model);

}  // namespace quorate
