// SPDX-License-Identifier: BSD-2-Clause
// How long workers compute in a round of an anytime scheme: a given time, or one that is chosen
// from how long fixed minibatches took them.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "scheme/anytime/schemes.hpp"

namespace quorate {

/// The compute time of a run: n workers, b samples of a round.
class ComputeTime {
public:
    /// @param time     seconds, chosen_time or matched_time
    /// @param samples  b
    /// @throws Refusal if a micro-batch is larger than the data, or takes longer than the compute
    /// time
    ComputeTime(Seconds time, const std::optional<std::int64_t>& micro_batch,
                const Problem& problem, std::int64_t samples);

    /// Lets a --samples-cap limit the samples of tasks too.
    /// @param all    the cap
    /// @param needs  whose block i is worker i's
    /// @throws Refusal if the cap is less than the workers, exceeds the rows, or is less than the
    ///         fixed minibatches from which the time is chosen
    void cap(std::int64_t all, const Problem& problem, const Needs& needs);

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
    /// The budget of a task: the compute time, delay included, and at most the worker's share of
    /// the cap.
    Budget budget(Worker worker) const
    {
        return {.samples = caps_.empty() ? 0 : caps_[worker],
                .seconds = time_,
                .micro_batch = micro_batch(worker)};
    }
    /// The samples of a task of one micro-batch.
    std::int64_t least(Worker worker) const
    {
        const auto rows = micro_batch(worker);
        return caps_.empty() ? rows : std::min(rows, caps_[worker]);
    }

private:
    struct Minibatch {
        Seconds delay, compute;
    };
    bool match_;
    Seconds time_;              // 0: not chosen yet
    std::int64_t micro_batch_;  // 0: auto
    Seconds row_time_;
    double slack_;                      // 1 + n / b
    std::vector<Seconds> row_seconds_;  // of each worker, as in its last contribution
    std::vector<Minibatch> minibatches_;
    std::vector<std::int64_t> caps_;  // samples of a task, by worker; empty: no cap
    std::int64_t samples_;            // b
};

}  // namespace quorate
