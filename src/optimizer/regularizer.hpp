// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"

namespace quorate {

/// The term that the objective adds to the mean loss: l2 |w|^2 + l1 sum_j |w_j|.
struct Regularizer {
    double l2 = 0, l1 = 0;

    /// The term's value. O(p).
    double value(ConstNumbers w) const
    {
        double squares = 0, sum = 0;
        w.visit([&](auto all) {
            for (const double x : all) squares += x * x, sum += std::abs(x);
        });
        return l2 * squares + l1 * sum;
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
