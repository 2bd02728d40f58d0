// SPDX-License-Identifier: BSD-2-Clause
// Contributions as recipes: what a worker would have computed, computed here when it is wanted, or
// never. The same kernel on the same shards as a worker's, so the same bits.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/slots.hpp"
#include "data/shard.hpp"
#include "fleet/fleet.hpp"
#include "fleet/part_sum.hpp"
#include "scheme/scheme.hpp"
#include "straggler/liars.hpp"

namespace quorate {

class Recipes {
public:
    /// Without data (dry): nothing is ever computed, and all values are empty.
    /// @param parameters  of the points, for the size of messages
    Recipes(const Needs& needs, const Batches& batches, const Liars& liars,
            std::int64_t parameters);
    /// Reads every worker's shard; workers that store the same blocks share one.
    Recipes(const Needs& needs, const Liars& liars, const DataSet& data,
            const Computing& computing);

    bool dry() const { return computing_ == nullptr; }
    /// What each worker stores. Ranks are those that MPI would give.
    std::vector<WorkerInfo> workers() const;
    /// The rows that tasks take.
    const Batches& batches() const { return batches_; }

    /// Bytes of the payload of one point or contribution of a worker.
    std::int64_t payload(Worker worker) const;

    /// A contribution that has arrived. @param inputs  the points its task names, kept alive
    std::size_t add(Worker worker, std::shared_ptr<const Plan> plan, int part, std::int64_t draw,
                    PointList inputs);
    /// Computes those not yet computed, on all cores.
    void prepare(std::span<const std::size_t> handles);
    Values values(std::size_t handle);
    /// Of the recipe itself, for dry runs: equal for replicas; a liar's differs from all others.
    std::uint64_t fingerprint(std::size_t handle);
    void release(std::size_t handle);

private:
    struct Recipe {
        Worker worker = 0;
        std::shared_ptr<const Plan> plan;
        int part = 0;
        std::int64_t draw = 0;
        PointList inputs;
        bool computed = false;
        std::vector<double> values;
        double loss = 0;
    };
    struct Store {
        Shard shard;
        Support support;                 // the parameters that it touches
        std::vector<std::size_t> place;  // number of a block in the needs -> in the shard
    };
    void compute(Recipe& recipe) const;
    const Support& support(Worker worker) const;

    std::int64_t parameters_;
    const Batches& batches_;
    const Liars& liars_;
    const Computing* computing_ = nullptr;              // none: dry
    std::vector<std::shared_ptr<const Store>> stores_;  // by worker; all empty if dry
    std::vector<std::int64_t> shard_rows_;              // by worker
    Support nothing_ = Support::all(0);
    Slots<Recipe> recipes_;
};

}  // namespace quorate
