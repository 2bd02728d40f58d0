// SPDX-License-Identifier: BSD-2-Clause
#include "optimizer/rule.hpp"

namespace quorate {

namespace {

// w <- prox((1 - 2 l2 step) w - step g)
class GradientDescent final : public Rule {
public:
    using Rule::Rule;

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        const double kept = regularizer_.kept(step);
        for_parameters([=, regularizer = regularizer_, w = w_.data(), g = estimate.data(),
                        point = next.data()](std::size_t i) {
            point[i] = w[i] = regularizer.shrunk(kept * w[i] - step * g[i], step);
        });
    }

    std::vector<Numbers> memory() override { return {w_}; }
};

}  // namespace

OptimizerEntry<GradientDescentOptions> GradientDescentOptions::entry()
{
    return {.name = "gd",
            .text = "gradient descent; with --l1, proximal",
            .source = "textbook",
            .make = make_rule<GradientDescent>,
            .properties = {.by_curvature = true, .shares = true}};
}

}  // namespace quorate
