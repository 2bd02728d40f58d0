// SPDX-License-Identifier: BSD-2-Clause
// Cached gradients: which of them a task computes anew, and their sum. Workers over MPI and
// simulated ones both use these.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compute/work.hpp"

namespace quorate {

/// Whether a part is a sum of cached gradients. Either all of its items are cached, or none.
inline bool is_cached(const Part& part)
{
    return !part.items.empty() && part.items[0].operation == Item::Operation::cached;
}

/// A cached gradient that is to be computed.
struct CacheUpdate {
    const Item* item;  // names the block
    Version version;   // of the point to take it at, one of the task's inputs
};

/// Returns the gradients that a part of cached gradients computes, in the order of computation:
///  - those of blocks whose gradient the worker does not have;
///  - if it has all, the one that it left unfinished, if the task still names that point and the
///  cached
///    one is older;
///  - otherwise the oldest one, the first of equally old ones, unless it is already at the newest
///  point.
/// O(items).
/// @param part    a sum of cached gradients; must outlive the result
/// @param inputs  versions of the points that the task names
/// @param cached  version of the cached gradient, by block
/// @param begun   block and version of the gradient that was left unfinished; none: there is none
std::vector<CacheUpdate> cache_updates(const Part& part, const Versions& inputs,
                                       const std::map<int, Version>& cached,
                                       std::optional<std::pair<int, Version>> begun);

/// The gradient of one block that a worker caches for later contributions. It has no coefficient
/// yet.
struct CachedGradient {
    Version version;  // of the point that it was taken at
    std::int64_t samples = 0;
    double loss = 0;      // sum over the samples
    NumberVector values;  // at the parameters that the worker's rows touch
};

/// Sets sum to the gradients of a part's items, each times the item's coefficient, added item by
/// item. O(items x elements of sum).
/// @param cached  for each item of the part
/// @return the sums of their losses
Losses add_up(const Part& part, std::span<const CachedGradient* const> cached, Numbers sum);

/// A point at the parameters that a worker's rows touch.
struct LocalPoint {
    std::shared_ptr<const void> owner;  // keeps the values alive
    ConstNumbers values;
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
    Work& update(const CacheUpdate& update, LocalPoint point, std::int64_t key,
                 const Computing& computing, const StoredRows& stored);
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
        LocalPoint point;
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
