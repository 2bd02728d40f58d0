// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "base/parallel.hpp"
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
    /// Calls f(i) for each parameter. What f needs it is to hold by value: then the compiler knows
    /// that no result overwrites it, and uses vectors.
    template <class F>
    void for_parameters(F f) const
    {
        constexpr std::size_t range = 4096;
        ranges_in_parallel(w_.size(), range, threads_, [=](std::size_t first, std::size_t last) {
            for (auto i = first; i < last; ++i) f(i);
        });
    }

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
