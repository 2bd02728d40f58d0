// SPDX-License-Identifier: BSD-2-Clause
// When a task that takes too long is begun anew, with a new draw of its delay.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheme/newest/schemes.hpp"

namespace quorate {

/// Returns the limit of time T that lets tasks succeed at the least expected cost, E[min(Y, T)] /
/// P(Y <= T), where Y is a task's time: the best of the times themselves, or `never` if no limit is
/// better. O(m log m).
/// @param times  of tasks without a limit, seconds; at least one
Seconds best_restart(std::span<const Seconds> times);

/// The limits of time of tasks, by worker: a fixed one, or one that follows from a worker's own
/// times. The latter has no limit in a worker's first 20 tasks, and in every 20th after that; then
/// it is that of best_restart() for its last 100 times without a limit, found anew after 10 more.
class Restarts {
public:
    /// @param limit  of all workers; 0: that which follows from their times
    Restarts(int workers, Seconds limit);

    /// Returns the limit of the next task of a worker.
    Seconds next(Worker worker);
    /// Takes note of how a task ended that was given with the limit that next() returned last.
    /// @param seconds  that it took, its delay included
    void ended(Worker worker, Seconds seconds, bool complete);

    /// Whether there are enough times of all workers, or the limit is fixed.
    bool known() const { return unknown_ == 0; }
    /// The limit of a worker in tasks that are not to explore; never: none.
    Seconds limit(Worker worker) const { return own_[worker].limit; }
    /// The share of the tasks with that limit which end in time, as measured; 1 if there is no
    /// limit.
    double success(Worker worker) const;
    /// What a task with that limit takes at most; without a limit, its mean time. Infinite if
    /// nothing is known of it.
    Seconds cost(Worker worker) const;

private:
    struct Own {
        Seconds limit;
        std::vector<Seconds> times = {};         // the last ones without a limit, in a ring
        std::int64_t given = 0, free = 0;        // tasks; those that ended without a limit
        std::int64_t limited = 0, complete = 0;  // those that ended, with a fixed limit
        bool exploring = false;                  // the newest task has no limit, to learn its time
    };

    bool fixed_;
    std::vector<Own> own_;
    int unknown_ = 0;  // workers whose limit is still to be found
};

/// The limits that --restart-after asks for. @param limit  seconds, or limit_by_times
/// @param samples  of a task  @throws Refusal if it is not above 0, or rows take longer
Restarts restarts(Seconds limit, const Problem& problem, std::int64_t samples);

}  // namespace quorate
