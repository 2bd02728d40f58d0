// SPDX-License-Identifier: BSD-2-Clause
// Update rules. Pure mathematics: no MPI, no clock, no files.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/registry.hpp"
#include "optimizer/regularizer.hpp"

namespace quorate {

/// One model being trained. Estimates are of the mean gradient of the loss alone: the optimiser adds
/// that of l2 |w|^2 and takes the proximal step of l1. Local.
class Optimizer {
public:
    virtual ~Optimizer() = default;

    /// One update. O(p), one pass.
    /// @param estimate  mean gradient of the loss at the point published last, p elements
    /// @param step      step size of this round
    /// @param next      receives the point at which the next gradient is to be taken (not always
    ///                  the model: agd wants y); must not be a vector handed out before
    virtual void update(std::span<const double> estimate, double step, std::span<double> next) = 0;

    /// Moves the model, for schemes whose workers make the steps: w += displacement.
    /// @throws std::logic_error for update rules with a memory, whose steps these would not be
    virtual void move(std::span<const double> displacement, std::span<double> next);

    /// The model w after the updates so far, p elements.
    virtual std::span<const double> model() const = 0;
    /// Whether the points handed out are the models themselves.
    virtual bool publishes_model() const { return true; }

    /// All vectors on which later updates depend, the model first: what a checkpoint keeps and sets.
    virtual std::vector<std::span<double>> memory() = 0;
    /// The updates so far, likewise.
    long& updates() { return updates_; }

protected:
    long updates_ = 0;
};

/// @param initial  w_0, p elements; also the first point
using MakeOptimizer = std::unique_ptr<Optimizer> (*)(const Settings&, std::vector<double> initial,
                                                     const Regularizer& regularizer);

/// The optimisers that --optimizer can name.
const std::vector<Entry<MakeOptimizer>>& optimizers();

}  // namespace quorate
