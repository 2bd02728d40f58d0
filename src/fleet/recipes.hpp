// SPDX-License-Identifier: BSD-2-Clause
// Contributions as recipes: what a worker would have computed, computed here when it is wanted, or
// never. The same kernel on the same shards as a worker's, so the same bits.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "base/slots.hpp"
#include "compute/part_sum.hpp"
#include "compute/product.hpp"
#include "compute/store.hpp"
#include "fleet/fleet.hpp"
#include "scheme/scheme.hpp"
#include "straggler/byzantine.hpp"

namespace quorate {

/// A gradient that workers cache, computed when a contribution needs it; replicas share it.
struct CachedRecipe {
    Worker worker;  // one of those that cache it
    int block;
    Point point;
    std::int64_t key;
    CachedGradient gradient;
    bool computed = false;
};
using CachedList = boost::container::small_vector<std::shared_ptr<CachedRecipe>, 1>;

class Recipes {
public:
    /// Without data (dry): nothing is ever computed, and all values are empty.
    /// @param parameters  of the points, for the size of messages
    Recipes(const Needs& needs, const Batches& batches, const ByzantineWorkers& byzantine,
            std::int64_t parameters);
    /// Reads every worker's shard; workers that store the same blocks share one, and dense rows are held
    /// once for all.
    Recipes(const Needs& needs, const ByzantineWorkers& byzantine, const DataSet& data,
            const Computing& computing);

    bool dry() const { return !computing_; }
    /// What each worker stores. Ranks are those that MPI would give.
    std::vector<WorkerInfo> workers() const;
    /// The rows that tasks take.
    const Batches& batches() const { return *batches_; }

    /// From now on workers store what this coding says. Contributions made before have no values.
    /// @param members  for each worker of the coding, its number here
    void reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members);
    /// That a worker stores.
    std::int64_t rows(Worker worker) const { return rows_[static_cast<std::size_t>(worker)]; }

    /// Bytes of one point, for that worker.
    std::int64_t payload(Worker worker) const;
    /// Of what a task has beside points.
    std::int64_t operand_bytes(const Dispatch& task) const;
    /// Of the contribution that a part is.
    std::int64_t payload(Worker worker, const Part& part) const;
    /// Of a part's rows, in rows of gradients.
    std::int64_t load(Worker worker, const Part& part) const;

    /// Samples that time-limited tasks compute as a whole.
    std::int64_t micro_batch(const Budget& budget) const;
    /// Of a part that is computed as a whole.
    std::int64_t samples(const Dispatch& task, const Part& part) const;

    /// A contribution that has arrived.
    struct Made {
        Worker worker;
        int part;
        std::int64_t draw;       // the worker's own count, if the task says so
        std::int64_t samples;    // descent: steps
        PointList inputs;        // the points that its task names, cached alive, and its operands
        CachedList cached = {};  // of its items, if it is a sum of such
    };
    std::size_t add(const Dispatch& task, Made made);
    /// One that came too late for its task: it has no values.
    std::size_t add_late(Worker worker);
    /// The gradient of a block at a point, for contributions that are sums of such.
    std::shared_ptr<CachedRecipe> cache(Worker worker, int block, Version version, Point point,
                                        std::int64_t key);
    /// Computes those not yet computed, on all cores.
    void prepare(std::span<const std::size_t> handles);
    Values values(std::size_t handle);
    /// Of the recipe itself, for dry runs: equal for replicas; that of a Byzantine worker differs from all others.
    std::uint64_t fingerprint(std::size_t handle);
    void release(std::size_t handle);

    /// The run is over: nothing is computed any more, and the rows are free for other use.
    /// @return all training rows, if they are dense and held as one block; else null, and none are held
    std::shared_ptr<const ShardBlock> give_up_rows();

private:
    double dry_load(Item::Operation operation) const;
    struct Recipe {
        Made made = {};
        std::shared_ptr<const Plan> plan;
        Extent extent;
        boost::container::small_vector<std::int64_t, 1> keys;  // of the inputs' samples
        bool computed = false;
        std::vector<double> values;
        double loss = 0;
    };
    const Store& store(Worker worker) const { return *stores_[static_cast<std::size_t>(worker)]; }
    void fill_stores(const Needs& needs, std::span<const Worker> members);
    std::int64_t outputs() const { return computing_ ? computing_->model.outputs() : 1; }
    void compute(Recipe& recipe) const;
    void compute(CachedRecipe& cached) const;
    const Support& support(Worker worker) const;

    std::int64_t parameters_;
    std::shared_ptr<const Coding> coding_;  // the newest, if there was another than the first
    const Batches* batches_;
    const ByzantineWorkers& byzantine_;
    const DataSet* data_ = nullptr;               // none: dry
    std::optional<Computing> computing_;          // likewise
    std::shared_ptr<const ShardBlock> training_;  // dense rows, which all stores share; or none
    std::vector<std::shared_ptr<const Store>> stores_;  // by worker; all empty if dry
    std::vector<std::int64_t> rows_;                    // by worker
    Support nothing_ = Support::all(0);
    Slots<Recipe> recipes_;
    // By store, block, version and key.
    std::map<std::tuple<const Store*, int, Version, std::int64_t>, std::weak_ptr<CachedRecipe>>
        kept_;
    std::size_t cached_at_most_ = 1024;  // then those that nobody caches are forgotten
};

}  // namespace quorate
