// SPDX-License-Identifier: BSD-2-Clause
// A contribution that is computed chunk by chunk. A worker over MPI looks at its mailbox between
// chunks; a simulation computes all of them in one go. Both cut the rows at the same places, so
// their values are equal bit by bit.
#pragma once

#include <boost/container/flat_map.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "base/wire.hpp"
#include "compute/compression.hpp"
#include "compute/losses.hpp"
#include "data/shard.hpp"
#include "model/model.hpp"
#include "optimizer/optimizer.hpp"
#include "scheme/batches.hpp"

namespace quorate {

/// Makes the optimiser of a task's local steps, which begin at these parameters.
using MakeInner = std::function<std::unique_ptr<Optimizer>(std::vector<double> initial)>;

/// How a process computes; the same for all tasks. Its references must outlive all work.
struct Computing {
    const Model& model;
    const Batches* batches;
    std::int64_t chunk_rows;     // rows of a chunk, for each thread (Model::chunk_rows)
    int threads;                 // at least 1
    double l2 = 0;               // coefficient of the regulariser in local steps
    Wire wire = Wire::binary64;  // what contributions are rounded to, unless they are compressed
    Compression compression = {};
    MakeInner inner = {};      // makes the optimiser of local steps; none: gradient descent
    bool keeps_inner = false;  // whether they go on with its state from task to task
};

/// Returns the parameters that a shard's rows touch. O(their number).
inline Support parameters_of(const Shard& shard, const Model& model)
{
    return shard.support().widened(model.per_column(), model.shared_parameters());
}

/// Where blocks of the needs stand in a shard.
using BlockPlaces = boost::container::flat_map<int, std::size_t>;

/// A view of the rows that a worker stores.
struct StoredRows {
    const Shard& shard;
    const BlockPlaces& places;            // of the blocks that it stores
    const ShardBlock* columns = nullptr;  // the worker's coded columns, each as a row; or null
    double coded_load = 0,
           column_load = 0;  // what a row or a column of a product costs, in rows of gradients
    /// The rows of a block of the needs, which the worker must store.
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
    ConstNumbers point;  // at the parameters that the shard's rows touch
    std::int64_t key;    // of its samples
};

/// How much of a part is computed.
struct Extent {
    std::optional<std::int64_t> samples;  // descent: steps; none: each block's share of the batch
    std::optional<std::int64_t> items = {};  // whole ones, from the first on; none: all, at once
    std::int64_t micro_batch = 0;            // samples computed as a whole; 0: those of a chunk
    double step = 0;                         // step size of descent
};

/// Returns how many samples are computed as a whole where time is limited.
inline std::int64_t micro_batch(const Computing& computing, const Extent& extent)
{
    return extent.micro_batch > 0 ? extent.micro_batch : computing.chunk_rows * computing.threads;
}

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

}  // namespace quorate
