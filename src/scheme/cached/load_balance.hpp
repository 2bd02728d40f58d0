// SPDX-License-Identifier: BSD-2-Clause
// How finely each worker cuts its rows, so that all take about as long for a task: the load
// balancing of DSAG (Severinson et al., arXiv 2111.13877, and its authors' code).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/seconds.hpp"

namespace quorate {

/// What a worker's answers take, in seconds.
struct Latency {
    double compute;    // for all training rows; a task of a share s takes compute * s on average
    double deviation;  // of that: a task's time deviates by deviation * s
    double rest;       // of an answer, beside its computation
};

/// A worker among those that are balanced.
struct Balanced {
    Latency latency;
    int parts;  // subpartitions of its rows
};

/// Seconds that a worker takes for an answer on average. @param share  of the training rows that it
/// stores
double answer_time(const Balanced& worker, double share);

/// What balancing keeps to.
struct BalanceRules {
    double share;  // of the training rows, of each worker
    double fresh;  // probability that a worker is among those that a round waits for
    double least;  // of contribution(): rows that a round renews, as a share of all
    int most;      // subpartitions of a worker
};

/// The share of all rows that a round renews: sum of fresh * share / parts.
double contribution(const std::vector<Balanced>& workers, const BalanceRules& rules);

/// Returns subpartitions with which all workers take the same time for an answer and a round renews
/// `least`, in closed form: v = (least / fresh + sum c/m) / sum 1/m and p = m share / (v - c), with
/// m = compute and c = rest. O(workers).
std::vector<int> equal_times(const std::vector<Balanced>& workers, const BalanceRules& rules);

/// Who is among the fresh answers of a round, from a simulation of so many rounds of DSAG with
/// gamma times, without what the computation of the cache takes. O(rounds x workers x log workers).
/// @param collect  fresh answers of a round  @param seed  of the times
/// @return for each worker, the share of rounds in which it is
std::vector<double> simulated_fresh(const std::vector<Balanced>& workers, double share, int collect,
                                    double margin, std::uint64_t seed, int rounds);

/// Returns subpartitions as the authors' code finds them: all as fast as the slowest; then the
/// fastest get larger parts until a round renews `least`, or the slowest smaller ones while it
/// still does. O(parts x simulation).
std::vector<int> as_authors(const std::vector<Balanced>& workers, const BalanceRules& rules,
                            int collect, double margin, std::uint64_t seed);

/// Returns the subpartition with which a worker goes on when its rows are cut anew, so that it
/// begins where one of the old cut does: else it would evict more than it brings.
/// @param units      of the worker's rows  @param before, now  subpartitions of the two cuts
/// @param next       subpartition of the old cut that would come next, from 0
int aligned(int units, int before, int now, int next);

/// The latest answers of a worker. Local.
class LatencyWindow {
public:
    /// Takes note of an answer. O(1) on average.
    /// @param now      on the fleet's clock
    /// @param compute  as in Latency, of this one  @param rest  likewise
    void add(Seconds now, double compute, double rest);
    /// The mean over the middle 80 % of the answers of the last 10 s, if there are 10. O(answers x
    /// log answers).
    std::optional<Latency> latency() const;

private:
    struct Answer {
        Seconds time;
        double compute, rest;
    };
    std::deque<Answer> answers_;
};

}  // namespace quorate
