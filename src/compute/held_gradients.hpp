// SPDX-License-Identifier: BSD-2-Clause
// Gradients that a worker holds until it is asked for a sum of them (Part::held in
// scheme/types.hpp).
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "compute/losses.hpp"
#include "scheme/types.hpp"

namespace quorate {

/// Whether a part's gradients are held, or are to be taken from those that are.
inline bool is_held(const Part& part)
{
    return part.held || (!part.items.empty() && part.items[0].operation == Item::Operation::held);
}

/// The gradient of one block, without a coefficient.
struct HeldGradient {
    std::int64_t samples = 0;
    Losses losses = {};
    NumberVector values = {};  // at the parameters that the worker's rows touch
};

/// The gradients that one worker holds, by block and version of the point. Local.
class HeldGradients {
public:
    /// Returns the gradient of a block at a point; null: it is not there. Valid until it is
    /// dropped.
    const HeldGradient* find(int block, Version point) const
    {
        const auto found = held_.find({block, point});
        return found == held_.end() ? nullptr : &found->second;
    }
    void hold(int block, Version point, HeldGradient gradient)
    {
        held_[{block, point}] = std::move(gradient);
    }
    /// Drops those of points that are not among these.
    void retain(const Versions& versions)
    {
        std::erase_if(held_, [&](const auto& one) {
            return std::ranges::find(versions, one.first.second) == versions.end();
        });
    }
    void clear() { held_.clear(); }

private:
    std::map<std::pair<int, Version>, HeldGradient> held_;
};

}  // namespace quorate
