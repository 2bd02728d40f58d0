// SPDX-License-Identifier: BSD-2-Clause
// Contributions as recipes, for fleets whose workers are not there. A recipe says what a worker
// would have computed; this process computes it when its values are wanted, or never. It uses the
// same kernel on the same shards as a worker, so the values are equal bit by bit.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "base/numbered.hpp"
#include "compute/cached_gradients.hpp"
#include "compute/held_gradients.hpp"
#include "compute/product.hpp"
#include "compute/store.hpp"
#include "fleet/fleet.hpp"
#include "fleet/task_context.hpp"
#include "scheme/scheme.hpp"
#include "straggler/byzantine.hpp"

namespace quorate {

/// The recipe of a gradient that workers cache. It is computed when a contribution needs it, once
/// for all replicas.
struct CachedRecipe {
    Worker worker;  // one of the workers that cache it
    int block;
    Point point;
    std::int64_t key;
    CachedGradient gradient;
    bool computed = false;
};
using CachedList = boost::container::small_vector<std::shared_ptr<CachedRecipe>, 1>;

/// The contributions of a run by their recipes, and the shards that they are computed on. All
/// references must outlive it. Local; used by one thread, but computes on all cores.
class Recipes {
public:
    /// For a dry run: there are no data, nothing is ever computed, and all values are empty.
    /// @param parameters  number of parameters of the model, for the size of messages
    /// @param wire, compressor  what contributions are rounded or compressed to, likewise
    Recipes(const Needs& needs, const Batches& batches, const ByzantineWorkers& byzantine,
            std::int64_t parameters, Wire wire = Wire::binary64,
            std::shared_ptr<const Compressor> compressor = {});
    /// Reads every worker's shard. Workers that store the same blocks share one shard, and dense
    /// rows are held once for all.
    Recipes(const Needs& needs, const ByzantineWorkers& byzantine, const DataSet& data,
            const Computing& computing);

    bool dry() const { return !computing_; }
    /// The type of the values.
    Precision precision() const
    {
        return dry() ? Precision::binary64 : computing_->model.precision();
    }
    /// What each worker stores. Worker i has rank i + 1, as over MPI on one host.
    std::vector<WorkerInfo> workers() const;
    /// The rows that tasks take.
    const Batches& batches() const { return *batches_; }

    /// Makes workers store what this coding says from now on, and reads the shards. Values of
    /// contributions that were made before may not be asked for any more.
    /// @param members  for each worker of the coding, its number in the run, which may be a new one
    void reencode(std::shared_ptr<const Coding> coding, std::span<const Worker> members);
    /// Rows that a worker stores.
    std::int64_t rows(Worker worker) const { return rows_[static_cast<std::size_t>(worker)]; }

    /// The parameters that a worker's rows touch; dry: none.
    const Support& support(Worker worker) const
    {
        return dry() ? nothing_ : store(worker).support();
    }
    /// The union of these workers' supports; dry: all parameters.
    Support support(std::span<const Worker> workers) const;
    /// Bytes of a number that travels.
    std::int64_t number() const;
    /// Bytes of one point, packed to the worker's support; dry: of all parameters.
    std::int64_t payload(Worker worker) const;
    /// Bytes of one vector at the union of these workers' supports; dry: of all parameters.
    std::int64_t payload(std::span<const Worker> workers) const;
    /// Bytes of a task's operands.
    std::int64_t operand_bytes(const TaskContext& context) const;
    /// Bytes of the contribution of a part.
    std::int64_t payload(Worker worker, const Part& part) const;
    /// The work of a part, in rows of gradients: its samples, or for products what their rows cost.
    std::int64_t load(Worker worker, const Part& part) const;

    /// Samples that a task with a limit of time computes as a whole (16 in a dry run, unless the
    /// budget says it).
    std::int64_t micro_batch(const Budget& budget) const;
    /// Samples of a part that no limit of time cuts off; of descent, steps.
    std::int64_t samples(const Budget& budget, const Part& part) const;

    /// What was computed for a contribution.
    struct Made {
        Worker worker;
        int part;
        TaskId task = -1;
        LocalState local = {};
        std::int64_t draw;       // the worker's own count, if the task is keyed by it
        std::int64_t samples;    // descent: steps
        CachedList cached = {};  // gradients of its items, if it is a sum of cached ones
    };
    /// No task has left a state any more: what is computed from now on begins anew.
    void forget_states() { ++life_; }
    /// Adds a contribution; computes nothing yet. @return its handle. A dry run, which has no
    /// values, keeps nothing: there the handle is a hash of the recipe, equal for honest replicas;
    /// a Byzantine worker's differs from all others
    std::size_t add(const std::shared_ptr<const Plan>& plan, const TaskContext& context, Made made);
    /// Adds a contribution whose task is closed: it has no values. @return its handle
    std::size_t add_late(Worker worker);
    /// Returns the recipe of a gradient that workers cache. Equal arguments, and workers that share
    /// a shard, give the same recipe while anybody owns it; a dry run makes a new one each time.
    /// @param key  of its samples
    std::shared_ptr<CachedRecipe> cache(Worker worker, int block, Version version, Point point,
                                        std::int64_t key);
    /// Computes the values of those contributions that have none yet, on all cores. Does nothing if
    /// dry.
    void prepare(std::span<const std::size_t> handles);
    /// Returns the values of a contribution, and computes them if that has not been done.
    Values values(std::size_t handle);
    /// Frees a contribution; its handle may be given out again.
    void release(std::size_t handle);

    /// All training rows, if they are dense and not coded; else null.
    const std::shared_ptr<const ShardBlock>& training_rows() const { return training_; }
    /// Frees all shards at the end of a run. Nothing may be computed any more.
    /// @return training_rows()
    std::shared_ptr<const ShardBlock> give_up_rows();

private:
    double dry_load(Item::Operation operation) const;
    std::size_t hash(const Plan* plan, const TaskContext& context, const Made& made) const;
    // What a task leaves, once its contribution is computed.
    struct Left {
        TaskState state = {};
        int life = -1;  // in which it was computed; -1: in none
    };
    using SharedLeft = std::shared_ptr<Left>;
    struct Recipe {
        Made made = {};
        SharedLeft from = {}, to = {};  // states; null: none
        std::shared_ptr<const Plan> plan;
        PointList inputs;
        Extent extent;
        boost::container::small_vector<std::int64_t, 1> keys;  // of the inputs' samples
        bool computed = false;
        NumberVector values;
        Losses losses = {};
    };
    const Store& store(Worker worker) const { return *stores_[static_cast<std::size_t>(worker)]; }
    void fill_stores(const Needs& needs, std::span<const Worker> members);
    std::int64_t outputs() const { return computing_ ? computing_->model.outputs() : 1; }
    void compute(Recipe& recipe) const;
    void compute(CachedRecipe& cached) const;
    void place_states(Recipe& recipe);
    bool is_computed(const Recipe& recipe) const;
    StatePlaces places(const Recipe& recipe) const;
    // Parameters that a worker's rows touch; dry: all.
    std::int64_t width(Worker worker) const;

    std::int64_t parameters_;
    Wire wire_;
    std::shared_ptr<const Compressor> compressor_;  // of contributions; null: they travel whole
    std::shared_ptr<const Coding> coding_;          // the running one after reencode(); null before
    const Batches* batches_;
    const ByzantineWorkers& byzantine_;
    const DataSet* data_ = nullptr;               // null: dry
    std::optional<Computing> computing_;          // none: dry
    std::shared_ptr<const ShardBlock> training_;  // dense rows, which all stores share; or null
    std::vector<std::shared_ptr<const Store>> stores_;  // by worker; empty if dry
    std::vector<std::int64_t> rows_;                    // by worker
    Support nothing_ = Support::all(0);
    Numbered<Recipe> recipes_;
    // By store, block, version and key.
    std::map<std::tuple<const Store*, int, Version, std::int64_t>, std::weak_ptr<CachedRecipe>>
        cached_;
    std::vector<std::map<TaskId, SharedLeft>> left_;  // by worker, of tasks that may be named
    int life_ = 0;                                    // one more with each forget_states()
    std::size_t cached_at_most_ = 1024;  // at this size, entries that nobody owns are dropped
};

}  // namespace quorate
