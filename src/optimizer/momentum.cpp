// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "optimizer/rule.hpp"

namespace quorate {

namespace {

// g' = g + 2 l2 w,   v <- momentum v + g',   w <- prox(w - step v), or of Nesterov's form
// w <- prox(w - step (g' + momentum v))
class Momentum final : public Rule {
public:
    Momentum(const MomentumOptions& given, std::vector<double> initial,
             const Regularizer& regularizer)
        : Rule(std::move(initial), regularizer), momentum_(given.momentum), ahead_(given.nesterov),
          v_(w_.size(), 0.0)
    {
    }

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        for_parameters([=, momentum = momentum_, ahead = ahead_, regularizer = regularizer_,
                        w = w_.data(), v = v_.data(), g = estimate.data(),
                        point = next.data()](std::size_t i) {
            const double decay = 2 * regularizer.l2 * w[i];
            v[i] = momentum * v[i] + g[i] + decay;
            const double along = ahead ? g[i] + decay + momentum * v[i] : v[i];
            point[i] = w[i] = regularizer.shrunk(w[i] - step * along, step);
        });
    }

    std::vector<Numbers> memory() override { return {w_, v_}; }

private:
    double momentum_;
    bool ahead_;
    std::vector<double> v_;
};

}  // namespace

OptimizerEntry<MomentumOptions> MomentumOptions::entry()
{
    return {.name = "momentum",
            .text = "gradient descent with momentum, the heavy ball",
            .source = "Polyak 1964; Sutskever et al., ICML 2013; in the form of PyTorch",
            .options = {{&MomentumOptions::momentum,
                         {"momentum", "B", "0.9", "share of the last change that is kept"},
                         {.highest = 1}},
                        {&MomentumOptions::nesterov,
                         {"nesterov", "", "", "go on as if the same gradient came once more"}}},
            .make = make_rule<Momentum>,
            .properties = {.by_curvature = true, .step = 0.01, .shares = true}};
}

}  // namespace quorate
