// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "optimizer/rule.hpp"

namespace quorate {

namespace {

constexpr double below_one = 1 - 1e-15;

// m <- b1 m + (1 - b1) g,   v <- b2 v + (1 - b2) g^2,   step_t = step sqrt(1 - b2^t) / (1 - b1^t),
// w <- prox(w - step_t m / (sqrt(v) + 1e-8)), t from 1, with g + 2 l2 w for g. The proximal step is
// taken with the step of all parameters, not of each.
class Adam final : public Rule {
public:
    Adam(const AdamOptions& given, std::vector<double> initial, const Regularizer& regularizer)
        : Rule(std::move(initial), regularizer), given_(given), m_(w_.size(), 0.0),
          v_(w_.size(), 0.0)
    {
    }

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        const auto t = static_cast<double>(++updates_);
        const auto [beta1, beta2] = given_;
        const double scaled = step * std::sqrt(1 - std::pow(beta2, t)) / (1 - std::pow(beta1, t));
        for_parameters([=, beta1 = beta1, beta2 = beta2, regularizer = regularizer_, w = w_.data(),
                        m = m_.data(), v = v_.data(), estimate = estimate.data(),
                        point = next.data()](std::size_t i) {
            const double g = estimate[i] + 2 * regularizer.l2 * w[i];
            m[i] = beta1 * m[i] + (1 - beta1) * g;
            v[i] = beta2 * v[i] + (1 - beta2) * g * g;
            const double moved = w[i] - scaled * m[i] / (std::sqrt(v[i]) + 1e-8);
            point[i] = w[i] = regularizer.shrunk(moved, step);
        });
    }

    std::vector<Numbers> memory() override { return {w_, m_, v_}; }

private:
    AdamOptions given_;
    std::vector<double> m_, v_;
};

}  // namespace

OptimizerEntry<AdamOptions> AdamOptions::entry()
{
    return {.name = "adam",
            .text = "running means of gradients and of their squares",
            .source = "Kingma and Ba 2015, in the form of TensorFlow",
            .options = {{&AdamOptions::beta1,
                         {"beta1", "B", "0.9", "share of the mean of gradients that is kept"},
                         {.highest = below_one}},
                        {&AdamOptions::beta2,
                         {"beta2", "B", "0.999", "share of the mean of squares that is kept"},
                         {.highest = below_one}}},
            .make = make_rule<Adam>,
            .properties = {.step = 0.001, .shares = true}};
}

}  // namespace quorate
