// SPDX-License-Identifier: BSD-2-Clause
// How long workers compute where that is not given: chosen from what fixed minibatches took them.
#pragma once

#include <vector>

#include "scheme/scheme.hpp"

namespace quorate {

/// --compute-time, --micro-batch.
Option compute_time_option();
Option micro_batch_option();

class ComputeTime {
public:
    /// @param samples  of a round  @throws BadInput
    ComputeTime(const Settings& settings, const Problem& problem, std::int64_t samples);

    bool known() const { return time_ > 0; }
    Seconds seconds() const { return time_; }

    /// A worker has answered.
    /// @param whole  a fixed minibatch: its share of the batch
    void receive(const Contribution& contribution, bool whole);
    /// From the answers to fixed minibatches. auto: (1 + n / b) times their mean time; match:
    /// the time in which a worker computes one of them on average. @return what to tell the user
    std::string choose();

    /// Samples between two looks at the clock: those that were asked for, or about 1 % of the time.
    std::int64_t micro_batch(Worker worker) const;
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
    std::vector<Seconds> row_seconds_;  // of each worker, as it last took
    std::vector<Minibatch> minibatches_;
};

}  // namespace quorate
