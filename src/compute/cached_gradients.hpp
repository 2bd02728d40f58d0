// SPDX-License-Identifier: BSD-2-Clause
// Decides which cached gradients a task computes anew. Workers over MPI and simulated ones both use
// this rule.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

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

}  // namespace quorate
