// SPDX-License-Identifier: BSD-2-Clause
// How long workers compute in a round of an anytime scheme: a given time, or one that is chosen
// from how long fixed minibatches took them.
#pragma once

#include <vector>

#include "scheme/scheme.hpp"

namespace quorate {

/// The options --compute-time and --micro-batch, which ComputeTime reads.
Option compute_time_option();
Option micro_batch_option();

/// The compute time of a run: n workers, b samples of a round.
class ComputeTime {
public:
    /// @param samples  b
    /// @throws BadInput if an option is wrong, or a micro-batch takes longer than the compute time
    ComputeTime(const Settings& settings, const Problem& problem, std::int64_t samples);

    /// Whether the time was given, or has been chosen.
    bool known() const { return time_ > 0; }
    Seconds seconds() const { return time_; }

    /// Receives a worker's times.
    /// @param whole  whether it computed a fixed minibatch, its share of the batch
    void receive(const Contribution& contribution, bool whole);
    /// Chooses the time from the fixed minibatches received, at least one. auto: (1 + n / b) times
    /// their mean time, delays included; match: the time in which a worker computes one of them on
    /// average. O(minibatches). @return a note for the user
    std::string choose();

    /// Samples between two looks at the clock: as --micro-batch says, or about 1 % of the compute
    /// time.
    std::int64_t micro_batch(Worker worker) const;
    /// The budget of a task: the compute time, delay included.
    Budget budget(Worker worker) const
    {
        return {.samples = 0, .seconds = time_, .micro_batch = micro_batch(worker)};
    }

private:
    struct Minibatch {
        Seconds delay, compute;
    };
    bool match_ = false;
    Seconds time_ = 0;
    std::int64_t micro_batch_ = 0;  // 0: auto
    Seconds row_time_;
    double slack_;                      // 1 + n / b
    std::vector<Seconds> row_seconds_;  // of each worker, as in its last contribution
    std::vector<Minibatch> minibatches_;
};

}  // namespace quorate
