// SPDX-License-Identifier: BSD-2-Clause
// Gradients that a worker keeps: which of them a task computes anew.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scheme/types.hpp"

namespace quorate {

/// Whether a part is a sum of gradients that the worker keeps; its items are all kept, or none is.
inline bool keeps(const Part& part)
{
    return !part.items.empty() && part.items[0].operation == Item::Operation::kept;
}

/// A gradient to be computed, and at which of the task's points.
struct Refresh {
    const Item* item;
    Version version;
};

/// What a part of kept gradients has computed: those that the worker lacks; if it has all, the one it
/// began and had to leave, if the task still names that point, else the oldest, of equally old ones the
/// first.
/// @param kept   versions, by block
/// @param begun  block and version of the gradient that was left unfinished
std::vector<Refresh> to_refresh(const Part& part, const Versions& inputs,
                                const std::map<int, Version>& kept,
                                std::optional<std::pair<int, Version>> begun);

}  // namespace quorate
