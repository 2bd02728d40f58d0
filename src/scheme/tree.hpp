// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace quorate {

/// How far apart base and gradient point of a scheme's updates can be in its tree of computations.
/// In that tree each stochastic gradient g is a step x - gamma g of its own, so an update of many
/// gradients is a path. The distance R of a step is the number of steps that lead to x from the
/// last point that is an ancestor of both x and the point of g. The docs prove what it is
/// (docs/schemes.md). Source: Birch SGD, ICLR 2026, by a summary.
struct ComputationTree {
    std::int64_t gradients;                  // that an update adds up
    std::optional<std::int64_t> stale = {};  // updates that they are old at most; none: no limit
    /// Gradients are steps that workers make themselves, and an update adds up all of them. Else it
    /// takes the mean of gradients.
    bool local = false;

    /// Returns the largest R: all gradients of an update are of the oldest point, and the last one
    /// is behind all others. Nothing if there is no limit.
    std::optional<std::int64_t> distance() const
    {
        if (!stale || *stale >= std::numeric_limits<std::int64_t>::max() / gradients - 1)
            return std::nullopt;
        return (*stale + 1) * gradients - 1;
    }
};

}  // namespace quorate
