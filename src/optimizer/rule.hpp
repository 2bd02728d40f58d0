// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "optimizer/optimizer.hpp"

namespace quorate {

/// The base of the update rules: the model and the regulariser. A rule that has options reads them
/// in its constructor.
class Rule : public Optimizer {
public:
    Rule(const Settings&, std::vector<double> initial, const Regularizer& regularizer)
        : w_(std::move(initial)), regularizer_(regularizer)
    {
    }
    std::span<const double> model() const override { return w_; }

protected:
    std::vector<double> w_;
    Regularizer regularizer_;
};

/// Makes a rule of a kind, as MakeOptimizer does.
template <class Kind>
std::unique_ptr<Optimizer> make_rule(const Settings& settings, std::vector<double> initial,
                                     const Regularizer& regularizer)
{
    return std::make_unique<Kind>(settings, std::move(initial), regularizer);
}

}  // namespace quorate
