// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "optimizer/rule.hpp"

namespace quorate {

namespace {

// s <- decay s + (1 - decay) g^2,   w <- prox(w - step g / sqrt(s + 1e-10)), with g + 2 l2 w for g
// and s = 1 at the start. The proximal step is taken with the step of all parameters, not of each.
class RmsProp final : public Rule {
public:
    RmsProp(const RmsPropOptions& given, std::vector<double> initial,
            const Regularizer& regularizer)
        : Rule(std::move(initial), regularizer), decay_(given.decay), s_(w_.size(), 1.0)
    {
    }

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        for_parameters([=, decay = decay_, regularizer = regularizer_, w = w_.data(), s = s_.data(),
                        estimate = estimate.data(), point = next.data()](std::size_t i) {
            const double g = estimate[i] + 2 * regularizer.l2 * w[i];
            s[i] = decay * s[i] + (1 - decay) * g * g;
            const double moved = w[i] - step * g / std::sqrt(s[i] + 1e-10);
            point[i] = w[i] = regularizer.shrunk(moved, step);
        });
    }

    std::vector<Numbers> memory() override { return {w_, s_}; }

private:
    double decay_;
    std::vector<double> s_;
};

}  // namespace

OptimizerEntry<RmsPropOptions> RmsPropOptions::entry()
{
    return {.name = "rmsprop",
            .text = "steps scaled by the root of a running mean of squared gradients",
            .source = "Tieleman and Hinton 2012, in the form of TensorFlow 1",
            .options = {{&RmsPropOptions::decay,
                         {"decay", "B", "0.9", "share of the running mean that is kept"},
                         {.highest = 1}}},
            .make = make_rule<RmsProp>,
            .properties = {.step = 0.001, .shares = true}};
}

}  // namespace quorate
