// SPDX-License-Identifier: BSD-2-Clause
// One contribution, computed chunk by chunk: by a worker between looks at its mailbox, or in one go
// when its values are wanted under the virtual clock. The same cuts, so the same bits.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute/cached_gradients.hpp"
#include "data/shard.hpp"
#include "model/model.hpp"
#include "model/row_sample.hpp"
#include "scheme/batches.hpp"

namespace quorate {

/// How a process computes; the same for all tasks.
struct Computing {
    const Model& model;
    const Batches* batches;
    std::int64_t chunk_rows;  // between two looks at the mailbox, for each thread
    int threads;
    double l2 = 0;  // weight decay of local steps
};

/// The parameters that a shard's rows touch.
inline Support parameters_of(const Shard& shard, const Model& model)
{
    return shard.support().widened(model.per_column(), model.shared_parameters());
}

/// The rows of a worker, and where each block of the needs stands in them.
struct HeldRows {
    const Shard& shard;
    std::span<const std::size_t> shard_index;
    const ShardBlock* columns = nullptr;  // the worker's coded columns, each a row
    double coded_load = 0,
           column_load = 0;  // of a row or column of a product, in rows of gradients
    RowView rows(int block) const
    {
        return shard.block(shard_index[static_cast<std::size_t>(block)]).view();
    }
    /// The worker's coded block, behind the plain ones.
    RowView coded() const { return shard.block(shard.size() - 1).view(); }
    /// What a product reads, and what a row of it costs.
    std::pair<RowView, double> factor(Item::Operation operation) const
    {
        if (operation == Item::Operation::column_product) return {columns->view(), column_load};
        return {coded(), coded_load};
    }
};

/// Where a gradient is taken: a point, at the shard's parameters, and the key of its samples.
struct At {
    std::span<const double> point;
    std::int64_t key;
};

/// How much of a part is computed. Without `samples`: its share of the batch.
struct Extent {
    std::optional<std::int64_t> samples;  // descent: steps
    std::int64_t micro_batch = 0;         // samples computed as a whole; 0: those of a chunk
    double step = 0;                      // of descent
};

/// Samples that are computed as a whole where time is limited.
std::int64_t micro_batch(const Computing& computing, const Extent& extent);

/// A contribution in the making.
class Work {
public:
    virtual ~Work() = default;
    /// The extent is computed.
    virtual bool done() const = 0;
    /// Computes the next chunk. @return its rows
    virtual std::int64_t step() = 0;
    /// Rows up to where it may stop next, from where it may stop now; 0: it may not stop now.
    virtual std::int64_t ahead() const = 0;
    /// No more is computed: the contribution is complete.
    virtual void finish() {}
    std::int64_t samples() const { return samples_; }
    double loss() const { return loss_; }  // sum over the samples

protected:
    std::int64_t samples_ = 0;
    double loss_ = 0;
};

/// @param at   for each input of the task
/// @param sum  receives the contribution; zeros now
std::unique_ptr<Work> begin_work(const Computing& computing, const HeldRows& held, const Part& part,
                                 std::vector<At> at, const Extent& extent, std::span<double> sum);

/// The gradient of one block that a worker caches for later contributions.
struct CachedGradient {
    Version version;
    std::int64_t samples = 0;
    double loss = 0;
    std::vector<double> values;
};

/// sum = the items' coefficients times these gradients, item by item.
void add_up(const Part& part, std::span<const CachedGradient* const> cached, std::span<double> sum);

/// Gradients of chunks of rows, one chunk for each thread at a time.
class Chunks {
public:
    Chunks(const Computing& computing, std::size_t width);

    /// @param rows   all of the block  @param samples  those taken, or none: first..first+count-1
    /// @return sum of the losses
    double add(const RowView& rows, std::span<const std::int64_t> samples, std::int64_t first,
               std::int64_t count, std::span<const double> point, double coefficient,
               std::span<double> sum);
    /// What other threads than the first have summed up.
    void collect(std::span<double> sum);

private:
    const Computing& computing_;
    std::vector<std::vector<double>> by_thread_;  // sums of all threads but the first
    std::vector<RowSample> gathered_;             // of each thread
};

/// The sum of gradients of a part's items.
class PartSum final : public Work {
public:
    PartSum(const Computing& computing, const HeldRows& held, const Part& part, std::vector<At> at,
            const Extent& extent, std::span<double> sum);

    bool done() const override { return item_ == part_.items.size(); }
    std::int64_t step() override;
    std::int64_t ahead() const override;
    void finish() override;

private:
    void begin_item();

    const Computing& computing_;
    HeldRows held_;
    const Part& part_;
    std::vector<At> at_;
    Extent extent_;
    std::int64_t micro_batch_;
    std::span<double> sum_;
    Chunks chunks_;
    std::size_t item_ = 0;
    std::int64_t row_ = 0, rows_ = 0;  // of the item, or of its samples
    std::optional<SampleStream> stream_;
    std::vector<std::int64_t> taken_;
};

/// Steps of gradient descent on batches of one block: how far they lead.
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
    std::int64_t row_ = 0, rows_;  // of a step's batch
    SampleStream stream_;
    std::vector<std::int64_t> taken_;
    std::vector<double> w_, gradient_;
    double coefficient_;
};

}  // namespace quorate
