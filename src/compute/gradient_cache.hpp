// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute/cached_gradients.hpp"
#include "compute/work.hpp"

namespace quorate {

/// A point at the parameters that a worker's rows touch.
struct HeldPoint {
    std::shared_ptr<const void> owner;  // keeps the values alive
    std::span<const double> values;
};

/// The gradients that one worker caches, one for each block, and the one that it is computing. An
/// update that was interrupted goes on if the next task asks for it too. Local.
class GradientCache {
public:
    /// Drops all gradients and the update under way.
    void clear();
    /// Returns the gradients that a part has to compute (cache_updates).
    std::vector<CacheUpdate> updates(const Part& part, const Versions& inputs) const;
    /// Begins a part: drops the gradients of blocks that it does not name, and the update under way
    /// if it is none of these.
    /// @param updates  what updates() has returned for this part
    void retain(const Part& part, std::span<const CacheUpdate> updates);
    /// Begins an update, or goes on with it if it is the one under way; any other one is dropped.
    /// @param point  at which the gradient is taken; not used if the update goes on
    /// @param key    of its samples
    /// @return what to compute until it is done; valid until the next call that changes the cache
    Work& update(const CacheUpdate& update, HeldPoint point, std::int64_t key,
                 const Computing& computing, const HeldRows& held);
    /// Whether an update is under way.
    bool is_updating() const { return pending_ != nullptr; }
    /// Seconds that the emulated slow machine would still pause in the update under way. Only if
    /// is_updating().
    Seconds& time_left() { return pending_->time_left; }
    /// Puts the gradient of the update under way, which must be done, in place of the block's older
    /// one.
    void store();
    /// Returns the gradients of a part's items, in their order; valid until the cache changes.
    /// @throws std::out_of_range if one is not cached
    std::vector<const CachedGradient*> of(const Part& part) const;

private:
    struct Pending {
        Part part;  // with the one item
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
