// SPDX-License-Identifier: BSD-2-Clause
// Gradients that a worker caches: which of them a task computes again.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scheme/types.hpp"

namespace quorate {

/// Whether a part is a sum of cached gradients: either all of its items are, or none.
inline bool is_cached(const Part& part)
{
    return !part.items.empty() && part.items[0].operation == Item::Operation::cached;
}

/// A gradient to be computed, and at which of the task's points.
struct CacheUpdate {
    const Item* item;
    Version version;
};

/// What a part of cached gradients computes: those that the worker lacks; if it has all, the one it
/// began and had to leave, if the task still names that point, else the oldest, of equally old ones the
/// first.
/// @param cached  versions, by block
/// @param begun  block and version of the gradient that was left unfinished
std::vector<CacheUpdate> cache_updates(const Part& part, const Versions& inputs,
                                       const std::map<int, Version>& cached,
                                       std::optional<std::pair<int, Version>> begun);

}  // namespace quorate
