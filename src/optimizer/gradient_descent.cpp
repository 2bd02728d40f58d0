// SPDX-License-Identifier: BSD-2-Clause
#include "optimizer/optimizer.hpp"

namespace quorate {

namespace {

// w <- (1 - 2 l2 step) w - step g
class GradientDescent final : public Optimizer {
public:
    GradientDescent(std::vector<double> initial, double l2) : w_(std::move(initial)), l2_(l2) {}

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        const double kept = 1 - 2 * l2_ * step;
        for (std::size_t i = 0; i < w_.size(); ++i)
            next[i] = w_[i] = kept * w_[i] - step * estimate[i];
    }

    std::span<const double> model() const override { return w_; }

private:
    std::vector<double> w_;
    double l2_;
};

}  // namespace

Entry<MakeOptimizer> gradient_descent_entry()
{
    return {.name = "gd",
            .arguments = "",
            .text = "gradient descent",
            .source = "textbook",
            .options = {},
            .make = [](const Settings&, std::vector<double> initial,
                       double l2) -> std::unique_ptr<Optimizer> {
                return std::make_unique<GradientDescent>(std::move(initial), l2);
            }};
}

}  // namespace quorate
