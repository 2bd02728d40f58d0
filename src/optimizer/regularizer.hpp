// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/block_sums.hpp"
#include "base/numbers.hpp"

namespace quorate {

/// The term that the objective adds to the mean loss: l2 |w|^2 + l1 sum_j |w_j|.
struct Regularizer {
    double l2 = 0, l1 = 0;

    /// The term's value. O(p).
    /// @param w     the parameters of the caller  @param sums  adds up over those of all
    double value(ConstNumbers w, const SumBlocks& sums = sum_blocks) const
    {
        std::vector<double> blocks(2 * blocks_of(w.size()));
        w.visit([&](auto all) {
            for (std::size_t i = 0; i < all.size(); ++i) {
                const double x = all[i];
                double* block = &blocks[2 * (i / sum_block)];
                block[0] += x * x;
                block[1] += std::abs(x);
            }
        });
        std::array<double, 2> whole{};  // squares and absolute values
        sums(blocks, whole);
        return l2 * whole[0] + l1 * whole[1];
    }
    /// The factor of w in a gradient step on the l2 term.
    double kept(double step) const { return 1 - 2 * l2 * step; }
    /// The element j of the least subgradient of an objective with the l1 term.
    /// @param w  the parameter j  @param g  the element j of the gradient of all else
    double least_subgradient(double w, double g) const
    {
        if (l1 == 0) return g;
        if (w != 0) return g + std::copysign(l1, w);
        return shrunk(g, 1);
    }
    /// The proximal step of the l1 term: argmin_x (x - w)^2 / 2 + step l1 |x|.
    double shrunk(double w, double step) const
    {
        return l1 == 0 ? w : std::copysign(std::max(0.0, std::abs(w) - step * l1), w);
    }
};

}  // namespace quorate
