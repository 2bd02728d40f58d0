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
    DualAveraging(const Settings& settings, std::vector<double> initial,
                  const Regularizer& regularizer)
        : Rule(settings, std::move(initial), regularizer),
          constant_(settings.real("beta-constant", 0)),
          growth_(settings.real("beta-growth", 1e-300)), radius_(settings.real("radius", 0)),
          z_(w_.size(), 0.0)
    {
    }

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        const auto t = static_cast<double>(++updates_);
        const double curvature =
            (constant_ + std::sqrt(t / growth_)) / step + 2 * t * regularizer_.l2;
        double square = 0;
        for (std::size_t i = 0; i < w_.size(); ++i) {
            z_[i] += estimate[i];
            w_[i] = -regularizer_.shrunk(z_[i], t) / curvature;
            square += w_[i] * w_[i];
        }
        const double norm = std::sqrt(square);
        if (radius_ > 0 && norm > radius_)
            for (auto& w : w_) w *= radius_ / norm;
        std::ranges::copy(w_, next.begin());
    }

    std::vector<std::span<double>> memory() override { return {w_, z_}; }

private:
    double constant_, growth_, radius_;
    std::vector<double> z_;
};

}  // namespace

Entry<MakeOptimizer> dual_averaging_entry()
{
    return {.name = "dual-averaging",
            .text = "the sum of all gradients decides; the update rule of anytime minibatches",
            .source = "Nesterov 2009; Xiao 2010 for the regulariser",
            .options = {{"beta-constant", "K", "1", "of beta_t = K + sqrt(t / mu)"},
                        {"beta-growth", "MU", "1", "mu of beta_t = K + sqrt(t / mu)"},
                        {"radius", "R", "0", "of the ball that holds the model; 0: none"}},
            .make = make_rule<DualAveraging>,
            .properties = {.by_curvature = true}};
}

}  // namespace quorate
