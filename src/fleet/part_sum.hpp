// SPDX-License-Identifier: BSD-2-Clause
// One contribution, computed chunk by chunk: by a worker between looks at its mailbox, or in one go
// when its values are wanted under the virtual clock. The same cuts, so the same bits.
#pragma once

#include <span>
#include <vector>

#include "data/shard.hpp"
#include "model/model.hpp"
#include "model/row_sample.hpp"
#include "scheme/batches.hpp"

namespace quorate {

/// How a process computes; the same for all tasks.
struct Computing {
    const Model& model;
    const Batches& batches;
    std::int64_t chunk_rows;  // between two looks at the mailbox, for each thread
    int threads;
};

/// The parameters that a shard's rows touch.
inline Support parameters_of(const Shard& shard, const Model& model)
{
    return shard.support().widened(model.per_column(), model.further());
}

class PartSum {
public:
    /// @param place   number of a block in the needs -> in the shard
    /// @param inputs  the points that the part's items name, at the shard's parameters
    /// @param sum     receives the contribution; zeros now
    PartSum(const Computing& computing, const Shard& shard, std::span<const std::size_t> place,
            const Part& part, std::int64_t draw, std::vector<std::span<const double>> inputs,
            std::span<double> sum);

    bool done() const { return item_ == part_.items.size(); }
    /// Computes the next chunk. @return its rows
    std::int64_t step();
    double loss() const { return loss_; }  // sum over the rows so far

private:
    void begin_item();
    void finish();

    const Computing& computing_;
    const Shard& shard_;
    std::span<const std::size_t> place_;
    const Part& part_;
    std::int64_t draw_;
    std::vector<std::span<const double>> inputs_;
    std::span<double> sum_;
    std::size_t item_ = 0;
    std::int64_t row_ = 0;                        // of the item, or of its samples
    std::vector<std::int64_t> samples_;           // of the item; empty: all its rows
    std::vector<std::vector<double>> by_thread_;  // sums of all threads but the first
    std::vector<RowSample> gathered_;             // of each thread
    double loss_ = 0;
};

}  // namespace quorate
