// SPDX-License-Identifier: BSD-2-Clause
// Cached gradients: which of them a task computes anew, and their sum. Workers over MPI and
// simulated ones both use these.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compute/losses.hpp"
#include "scheme/types.hpp"

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
    double loss = 0;             // sum over the samples
    std::vector<double> values;  // at the parameters that the worker's rows touch
};

/// Sets sum to the gradients of a part's items, each times the item's coefficient, added item by
/// item. O(items x elements of sum).
/// @param cached  for each item of the part
/// @return the sums of their losses
Losses add_up(const Part& part, std::span<const CachedGradient* const> cached,
              std::span<double> sum);

}  // namespace quorate
