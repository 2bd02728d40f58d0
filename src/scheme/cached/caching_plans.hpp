// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "scheme/placement.hpp"

namespace quorate {

/// Returns copies of plans of one part, whose gradients workers cache: a task then computes the
/// oldest of them.
inline Plans caching(const Plans& plans)
{
    return changed(plans, [](Plan& plan) {
        for (auto& item : plan.parts[0].items) item.operation = Item::Operation::cached;
    });
}

}  // namespace quorate
