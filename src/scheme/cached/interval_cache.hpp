// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "scheme/types.hpp"

namespace quorate {

/// The gradient sum of a run of units of one worker's rows, as a contribution that is kept.
struct CachedInterval {
    int first, count;  // units first..first+count-1 of the worker
    Version version;   // of the point that it was taken at
    ContributionId id;
    TaskId task;
    std::int64_t samples, rows;
};

/// Gradient sums of disjoint runs of units, each the newest of its rows: the cache of DSAG. Local.
class IntervalCache {
public:
    explicit IntervalCache(int workers) : entries_(workers) {}

    /// Takes an interval in if all entries of the worker that overlap it are older, and evicts them
    /// whole. The tasks of a worker must ascend. O(entries of the worker).
    /// @param evicted  receives them  @return whether it was taken in
    bool insert(Worker worker, const CachedInterval& interval,
                std::vector<CachedInterval>& evicted);
    /// Evicts the entries of a worker that are older than that version. O(entries of the worker).
    void evict_older(Worker worker, Version version, std::vector<CachedInterval>& evicted);

    /// The entries of a worker, ascending by task.
    const std::vector<CachedInterval>& of(Worker worker) const { return entries_[worker]; }
    /// Samples and rows of all entries, and how many there are.
    std::int64_t samples() const { return samples_; }
    std::int64_t rows() const { return rows_; }
    std::int64_t size() const { return size_; }

private:
    template <class Gone>
    void evict(Worker worker, Gone gone, std::vector<CachedInterval>& evicted);

    std::vector<std::vector<CachedInterval>> entries_;  // by worker
    std::int64_t samples_ = 0, rows_ = 0, size_ = 0;
};

}  // namespace quorate
