// SPDX-License-Identifier: BSD-2-Clause
// Sums of gradients of a part's items, and steps of descent.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compute/row_cuts.hpp"
#include "compute/task_states.hpp"
#include "model/row_sample.hpp"

namespace quorate {

/// Adds up gradients of chunks of rows, one chunk for each thread at a time. Each thread has a sum
/// of its own until collect(), so that the result does not depend on which thread is faster.
class Chunks {
public:
    /// @param width  elements of a gradient, of that precision
    Chunks(const Computing& computing, std::size_t width, Precision precision);

    /// Adds the gradients of some rows, at most one chunk for each thread.
    /// @param rows         all rows of the block
    /// @param samples      the rows to take, `count` of them; empty: rows first..first+count-1
    /// @param coefficient  of each gradient
    /// @param sum          the first thread's sum
    /// @return sum of the losses, without the coefficient
    double add(const RowView& rows, std::span<const std::int64_t> samples, std::int64_t first,
               std::int64_t count, ConstNumbers point, double coefficient, Numbers sum);
    /// Adds the sums of all threads but the first to `sum`, in the order of threads, and sets them
    /// to zero.
    void collect(Numbers sum);

private:
    const Computing& computing_;
    std::vector<NumberVector> by_thread_;  // sums of all threads but the first
    std::vector<RowSample> gathered_;      // of each thread
};

/// Computes the sum of the gradients of a part's items, each times its coefficient. Where the
/// shares of a batch are rounded, blocks are scaled to count by their rows (Batches::scale). Where
/// items count as a whole, finish() takes back what was added of one that is not complete.
class PartSum final : public Work {
public:
    PartSum(const Computing& computing, const StoredRows& stored, const Part& part,
            std::vector<At> at, const Extent& extent, Numbers sum);

    bool done() const override { return cuts_.done(); }
    std::int64_t step() override;
    std::int64_t ahead() const override;
    void finish() override;

private:
    void tell_model() const;
    void end_item();

    const Computing& computing_;
    StoredRows stored_;
    const Part& part_;
    std::vector<At> at_;
    Extent extent_;
    Numbers sum_;
    Chunks chunks_;
    RowCuts cuts_;
    std::vector<std::int64_t> taken_;
    // The contribution of the items that are complete, if items count as a whole.
    struct Complete {
        NumberVector sum;
        std::int64_t samples = 0;
        Losses losses;
    };
    std::optional<Complete> complete_;
};

/// Computes steps on batches of one block: of gradient descent, or of another optimiser, which is
/// made for this task and begins with the state that it finds. The contribution is how far they
/// lead away from the point, times the item's coefficient.
class Descent final : public Work {
public:
    Descent(const Computing& computing, const StoredRows& stored, const Part& part,
            const std::vector<At>& at, const Extent& extent, Numbers displacement,
            StatePlaces places);

    bool done() const override { return samples_ == extent_.samples; }
    std::int64_t step() override;
    std::int64_t ahead() const override { return row_ == 0 ? rows_ : 0; }
    void finish() override;

private:
    void descend();

    const Computing& computing_;
    RowView all_;
    At at_;
    Extent extent_;
    Numbers displacement_;
    Chunks chunks_;
    std::int64_t row_ = 0, rows_;  // samples of a step that are done, and all of them
    SampleStream stream_;
    std::vector<std::int64_t> taken_;
    NumberVector w_, gradient_;
    std::unique_ptr<Optimizer> inner_;  // null: gradient descent
    InnerState* left_;                  // null: its state is dropped
    double coefficient_;
};

}  // namespace quorate
