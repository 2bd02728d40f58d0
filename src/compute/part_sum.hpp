// SPDX-License-Identifier: BSD-2-Clause
// Computes one contribution chunk by chunk: gradients of a part's items, or steps of descent. A
// worker over MPI looks at its mailbox between chunks; a simulation computes all of them in one go.
// Both cut the rows at the same places, so their values are equal bit by bit.
#pragma once

#include <boost/container/flat_map.hpp>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/wire.hpp"
#include "compute/cached_gradients.hpp"
#include "compute/losses.hpp"
#include "data/shard.hpp"
#include "model/model.hpp"
#include "model/row_sample.hpp"
#include "scheme/batches.hpp"

namespace quorate {

/// How a process computes; the same for all tasks. Its references must outlive all work.
struct Computing {
    const Model& model;
    const Batches* batches;
    std::int64_t chunk_rows;     // rows of a chunk, for each thread (Model::chunk_rows)
    int threads;                 // at least 1
    double l2 = 0;               // coefficient of the regulariser in local steps
    Wire wire = Wire::binary64;  // what contributions are rounded to
};

/// Returns the parameters that a shard's rows touch. O(their number).
inline Support parameters_of(const Shard& shard, const Model& model)
{
    return shard.support().widened(model.per_column(), model.shared_parameters());
}

/// Where blocks of the needs stand in a shard.
using BlockPlaces = boost::container::flat_map<int, std::size_t>;

/// A view of the rows that a worker holds.
struct HeldRows {
    const Shard& shard;
    const BlockPlaces& places;            // of the blocks that it holds
    const ShardBlock* columns = nullptr;  // the worker's coded columns, each as a row; or null
    double coded_load = 0,
           column_load = 0;  // what a row or a column of a product costs, in rows of gradients
    /// The rows of a block of the needs, which the worker must hold.
    RowView rows(int block) const { return shard.block(places.at(block)).view(); }
    /// The worker's coded block, which stands behind the plain ones.
    RowView coded() const { return shard.block(shard.size() - 1).view(); }
    /// The rows that a product reads, and what one of them costs in rows of gradients.
    std::pair<RowView, double> factor(Item::Operation operation) const
    {
        if (operation == Item::Operation::column_product) return {columns->view(), column_load};
        return {coded(), coded_load};
    }
};

/// Where a gradient is taken.
struct At {
    std::span<const double> point;  // at the parameters that the shard's rows touch
    std::int64_t key;               // of its samples
};

/// How much of a part is computed.
struct Extent {
    std::optional<std::int64_t> samples;  // descent: steps; none: each block's share of the batch
    std::optional<std::int64_t> items = {};  // whole ones, from the first on; none: all, at once
    std::int64_t micro_batch = 0;            // samples computed as a whole; 0: those of a chunk
    double step = 0;                         // step size of descent
};

/// Returns how many samples are computed as a whole where time is limited.
std::int64_t micro_batch(const Computing& computing, const Extent& extent);

class HeldGradients;

/// A contribution that is being computed. Local; uses the threads that Computing says.
class Work {
public:
    virtual ~Work() = default;
    /// Whether all of the extent is computed. Then the contribution is complete.
    virtual bool done() const = 0;
    /// Computes the next chunk. @return its rows, or of a product what it costs in rows of
    /// gradients; 0 if done
    virtual std::int64_t step() = 0;
    /// Rows of the next micro-batch or step of descent, or what is left of an item that counts as a
    /// whole, if the work may stop before it; 0 if it may not stop now, or if nothing limits it.
    virtual std::int64_t ahead() const = 0;
    /// Completes the contribution with what has been computed so far. Not needed if done().
    virtual void finish() {}
    /// Samples computed so far; of descent, steps; of a product, rows or columns.
    std::int64_t samples() const { return samples_; }
    /// Sums of the losses; 0 of a product.
    const Losses& losses() const { return losses_; }

protected:
    std::int64_t samples_ = 0;
    Losses losses_;
};

/// Begins to compute a part. Computes nothing yet, but sets `sum` to zero.
/// @param held, part  must outlive the result, except for `held` itself, which is copied
/// @param at          for each input of the task, and behind them its operands
/// @param sum         receives the contribution: length_of() elements; must outlive the result
/// @param held_gradients  of the worker, which must outlive the result; null: it holds none
std::unique_ptr<Work> begin_work(const Computing& computing, const HeldRows& held, const Part& part,
                                 std::vector<At> at, const Extent& extent, std::span<double> sum,
                                 HeldGradients* held_gradients = nullptr);

/// The gradient of one block that a worker caches for later contributions. It has no coefficient
/// yet.
struct CachedGradient {
    Version version;  // of the point that it was taken at
    std::int64_t samples = 0;
    double loss = 0;             // sum over the samples
    std::vector<double> values;  // at the parameters that the worker's rows touch
};

/// Sets sum to the gradients of a part's items, each times the item's coefficient, added item by
/// item. O(items x elements of sum).
/// @param cached  for each item of the part
/// @return the sums of their losses
Losses add_up(const Part& part, std::span<const CachedGradient* const> cached,
              std::span<double> sum);

/// Adds up gradients of chunks of rows, one chunk for each thread at a time. Each thread has a sum
/// of its own until collect(), so that the result does not depend on which thread is faster.
class Chunks {
public:
    /// @param width  elements of a gradient
    Chunks(const Computing& computing, std::size_t width);

    /// Adds the gradients of some rows, at most one chunk for each thread.
    /// @param rows         all rows of the block
    /// @param samples      the rows to take, `count` of them; empty: rows first..first+count-1
    /// @param coefficient  of each gradient
    /// @param sum          the first thread's sum
    /// @return sum of the losses, without the coefficient
    double add(const RowView& rows, std::span<const std::int64_t> samples, std::int64_t first,
               std::int64_t count, std::span<const double> point, double coefficient,
               std::span<double> sum);
    /// Adds the sums of all threads but the first to `sum`, in the order of threads, and sets them
    /// to zero.
    void collect(std::span<double> sum);

private:
    const Computing& computing_;
    std::vector<std::vector<double>> by_thread_;  // sums of all threads but the first
    std::vector<RowSample> gathered_;             // of each thread
};

/// Computes the sum of the gradients of a part's items, each times its coefficient. Where the
/// shares of a batch are rounded, blocks are scaled to count by their rows (Batches::scale). Where
/// items count as a whole, finish() takes back what was added of one that is not complete.
class PartSum final : public Work {
public:
    PartSum(const Computing& computing, const HeldRows& held, const Part& part, std::vector<At> at,
            const Extent& extent, std::span<double> sum);

    bool done() const override { return item_ == items_; }
    std::int64_t step() override;
    std::int64_t ahead() const override;
    void finish() override;

private:
    void begin_item();
    void end_item();

    const Computing& computing_;
    HeldRows held_;
    const Part& part_;
    std::vector<At> at_;
    Extent extent_;
    std::int64_t micro_batch_;
    std::span<double> sum_;
    Chunks chunks_;
    std::size_t item_ = 0, items_;     // items_: where those to compute end
    std::int64_t row_ = 0, rows_ = 0;  // samples of the item that are done, and all of them
    std::optional<SampleStream> stream_;
    std::vector<std::int64_t> taken_;
    // The contribution of the items that are complete, if items count as a whole.
    struct Complete {
        std::vector<double> sum;
        std::int64_t samples = 0;
        Losses losses;
    };
    std::optional<Complete> complete_;
};

/// Computes steps of gradient descent on batches of one block. The contribution is how far they
/// lead away from the point, times the item's coefficient.
class Descent final : public Work {
public:
    Descent(const Computing& computing, const HeldRows& held, const Part& part,
            const std::vector<At>& at, const Extent& extent, std::span<double> displacement);

    bool done() const override { return samples_ == extent_.samples; }
    std::int64_t step() override;
    std::int64_t ahead() const override { return row_ == 0 ? rows_ : 0; }
    void finish() override;

private:
    const Computing& computing_;
    RowView all_;
    At at_;
    Extent extent_;
    std::span<double> displacement_;
    Chunks chunks_;
    std::int64_t row_ = 0, rows_;  // samples of a step that are done, and all of them
    SampleStream stream_;
    std::vector<std::int64_t> taken_;
    std::vector<double> w_, gradient_;
    double coefficient_;
};

}  // namespace quorate
