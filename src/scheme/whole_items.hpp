// SPDX-License-Identifier: BSD-2-Clause
// Parts of several items whose task has a limit of seconds: they are made of whole items, the first
// ones of the list. How many there are follows from the samples, so neither messages nor traces
// need to hold it.
#pragma once

#include <cstdint>
#include <optional>

#include "scheme/batches.hpp"
#include "scheme/types.hpp"

namespace quorate {

/// Whether workers can carry out a budget with this plan: it has one part, of one item or, with a
/// limit of seconds alone, of several items of gradients. O(items).
bool can_be_limited(const Budget& budget, const Plan& plan);

/// Whether a part is made of as many whole items as there is time for.
inline bool takes_whole_items(const Budget& budget, const Part& part)
{
    return budget.limited() && part.items.size() > 1;
}

/// Returns how many of a part's items, from the first on, have so many samples together. A block
/// without samples counts with those before it. O(items).
/// @return nothing if that many samples end within an item
std::optional<std::int64_t> whole_items(const Batches& batches, const Part& part,
                                        std::int64_t samples);

}  // namespace quorate
