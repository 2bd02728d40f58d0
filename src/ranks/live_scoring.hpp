// SPDX-License-Identifier: BSD-2-Clause
// Scores models while the run goes on (`--evaluate live`), on a rank that does nothing else. The
// coordinator sends a model when that rank, the scorer, is free, and looks for its answer once a
// round. It does not wait for the scorer before the end of the run.
#pragma once

#include <functional>
#include <optional>

#include "ranks/evaluation.hpp"
#include "transport/endpoint.hpp"

namespace quorate {

/// The coordinator's side. Local.
class LiveScoring {
public:
    /// @param endpoint  for these messages only; must outlive this object
    /// @param scorer    the rank that scores
    LiveScoring(transport::Endpoint& endpoint, int scorer) : endpoint_(endpoint), scorer_(scorer) {}

    /// Sends a copy of the model to the scorer if the scorer is free. Never waits. O(parameters).
    /// @param round  what poll() tells with the answer
    /// @return whether the model was sent
    bool offer(std::int64_t round, const Point& model);
    /// Takes the scorer's answer if it has come. Never waits.
    /// @param scored  called at most once, with the round that offer() was given
    void poll(const std::function<void(std::int64_t round, const Scored&)>& scored);
    /// Waits for the answer to the model that is being scored, if there is one, and tells the
    /// scorer to stop. A second call does nothing.
    /// @param scored  as for poll()
    void finish(const std::function<void(std::int64_t round, const Scored&)>& scored);

private:
    transport::Endpoint& endpoint_;
    int scorer_;
    bool finished_ = false;
    std::optional<std::int64_t> asked_;  // the round of the model that is being scored
};

/// The scorer's side: scores one model after the other, on all cores, until it is told to stop.
/// Reads all rows again for each model. Local, but for its messages with rank 0.
/// @throws BadInput, Failure  as DataSet::read()
void score_live(transport::Endpoint& endpoint, const DataSet& data, const Model& model);

}  // namespace quorate
