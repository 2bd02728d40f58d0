// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "optimizer/rule.hpp"

namespace quorate {

namespace {

// Dual averaging with centre 0. z is the sum of all gradients; w minimises
//   z.w + t (l2 |w|^2 + l1 |w|_1) + beta_t / (2 step) |w|^2,   beta_t = K + sqrt(t / mu),
// and is then scaled into the ball of the given radius. The initial point serves the first gradient
// only.
class DualAveraging final : public Rule {
public:
    DualAveraging(const DualAveragingOptions& given, std::vector<double> initial,
                  const Regularizer& regularizer)
        : Rule(std::move(initial), regularizer), given_(given), z_(w_.size(), 0.0)
    {
    }

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        const auto t = static_cast<double>(++updates_);
        const auto [constant, growth, radius] = given_;
        const double curvature =
            (constant + std::sqrt(t / growth)) / step + 2 * t * regularizer_.l2;
        for_parameters([=, regularizer = regularizer_, w = w_.data(), z = z_.data(),
                        g = estimate.data()](std::size_t i) {
            z[i] += g[i];
            w[i] = -regularizer.shrunk(z[i], t) / curvature;
        });
        if (radius > 0) {
            const double length = norm();
            if (length > radius)
                for_parameters(
                    [by = radius / length, w = w_.data()](std::size_t i) { w[i] *= by; });
        }
        std::ranges::copy(w_, next.begin());
    }

    std::vector<Numbers> memory() override { return {w_, z_}; }

private:
    double norm() const
    {
        return std::sqrt(sums_of([this](std::size_t first, std::size_t last) {
            double square = 0;
            for (auto i = first; i < last; ++i) square += w_[i] * w_[i];
            return std::array{square};
        })[0]);
    }

    DualAveragingOptions given_;
    std::vector<double> z_;
};

}  // namespace

OptimizerEntry<DualAveragingOptions> DualAveragingOptions::entry()
{
    return {.name = "dual-averaging",
            .text = "the sum of all gradients decides; the update rule of anytime minibatches",
            .source = "Nesterov 2009; Xiao 2010 for the regulariser",
            .options = {{&DualAveragingOptions::beta_constant,
                         {"beta-constant", "K", "1", "of beta_t = K + sqrt(t / mu)"}},
                        {&DualAveragingOptions::beta_growth,
                         {"beta-growth", "MU", "1", "mu of beta_t = K + sqrt(t / mu)"},
                         {.lowest = 1e-300}},
                        {&DualAveragingOptions::radius,
                         {"radius", "R", "0", "of the ball that holds the model; 0: none"}}},
            .make = make_rule<DualAveraging>,
            .properties = {.by_curvature = true, .shares = true}};
}

}  // namespace quorate
