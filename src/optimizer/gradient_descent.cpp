// SPDX-License-Identifier: BSD-2-Clause
#include "optimizer/optimizer.hpp"

namespace quorate {

namespace {

// w <- prox((1 - 2 l2 step) w - step g)
class GradientDescent final : public Optimizer {
public:
    GradientDescent(std::vector<double> initial, const Regularizer& regularizer)
        : w_(std::move(initial)), regularizer_(regularizer)
    {
    }

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        const double kept = regularizer_.kept(step);
        for (std::size_t i = 0; i < w_.size(); ++i)
            next[i] = w_[i] = regularizer_.shrunk(kept * w_[i] - step * estimate[i], step);
    }

    void move(std::span<const double> displacement, std::span<double> next) override
    {
        for (std::size_t i = 0; i < w_.size(); ++i) next[i] = w_[i] = w_[i] + displacement[i];
    }

    std::span<const double> model() const override { return w_; }
    std::vector<std::span<double>> memory() override { return {w_}; }

private:
    std::vector<double> w_;
    Regularizer regularizer_;
};

}  // namespace

Entry<MakeOptimizer> gradient_descent_entry()
{
    return {
        .name = "gd",
        .text = "gradient descent; with --l1, proximal",
        .source = "textbook",
        .make = [](const Settings&, std::vector<double> initial, const Regularizer& regularizer) {
            return std::make_unique<GradientDescent>(std::move(initial), regularizer);
        }};
}

}  // namespace quorate
