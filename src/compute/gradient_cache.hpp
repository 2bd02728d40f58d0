// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute/part_sum.hpp"

namespace quorate {

/// A point at a worker's parameters, and what keeps its values alive.
struct HeldPoint {
    std::shared_ptr<const void> owner;
    std::span<const double> values;
};

/// The gradients that one worker caches, one for each block, and the one that it is computing. An update that
/// was interrupted goes on if the next task asks for it too. Local.
class GradientCache {
public:
    void clear();
    /// The gradients that a part has to compute.
    std::vector<CacheUpdate> updates(const Part& part, const Versions& inputs) const;
    /// A part begins: blocks that it does not name are evicted, and so is an update that is not among these.
    void retain(const Part& part, std::span<const CacheUpdate> updates);
    /// Begins an update, or goes on with it. @param at  its point and the key of its samples
    /// @return what to compute until it is done
    Work& update(const CacheUpdate& update, HeldPoint point, std::int64_t key,
                 const Computing& computing, const HeldRows& held);
    /// Whether an update is under way.
    bool is_updating() const { return pending_ != nullptr; }
    /// Seconds that a slower computation would still take for the update under way.
    Seconds& time_left() { return pending_->time_left; }
    /// The update under way is done: its gradient takes the place of the block's older one.
    void store();
    /// The gradients of a part's items, in their order. All are there.
    std::vector<const CachedGradient*> of(const Part& part) const;

private:
    struct Pending {
        Part part;  // the one item
        HeldPoint point;
        CachedGradient gradient;
        std::unique_ptr<Work> work = {};
        Seconds time_left = 0;
        bool is(const CacheUpdate& update) const
        {
            return part.items[0].block == update.item->block && gradient.version == update.version;
        }
    };

    std::map<int, CachedGradient> cached_;  // by block
    std::unique_ptr<Pending> pending_;
};

}  // namespace quorate
