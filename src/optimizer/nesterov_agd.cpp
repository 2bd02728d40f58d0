// SPDX-License-Identifier: BSD-2-Clause
#include "optimizer/optimizer.hpp"

namespace quorate {

namespace {

// Nesterov's accelerated gradient for smooth convex functions: theta = 2 / (t + 2), t = 0, 1, ...
//   w_{t+1} = y_t - step (g(y_t) + 2 l2 y_t),   u_{t+1} = w_t + (w_{t+1} - w_t) / theta_t,
//   y_{t+1} = (1 - theta_{t+1}) w_{t+1} + theta_{t+1} u_{t+1}
//           = w_{t+1} + momentum (w_{t+1} - w_t),   momentum = t / (t + 3).
// u_0 = w_0, so that the initial point counts. The point published is y.
class NesterovAgd final : public Optimizer {
public:
    NesterovAgd(std::vector<double> initial, double l2) : w_(std::move(initial)), y_(w_), l2_(l2) {}

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        const double kept = 1 - 2 * l2_ * step;
        const double momentum = static_cast<double>(updates_) / static_cast<double>(updates_ + 3);
        for (std::size_t i = 0; i < w_.size(); ++i) {
            const double w = kept * y_[i] - step * estimate[i];
            next[i] = y_[i] = w + momentum * (w - w_[i]);
            w_[i] = w;
        }
        ++updates_;
    }

    std::span<const double> model() const override { return w_; }
    bool publishes_model() const override { return false; }

private:
    std::vector<double> w_, y_;
    double l2_;
    long updates_ = 0;
};

}  // namespace

Entry<MakeOptimizer> nesterov_agd_entry()
{
    return {
        .name = "agd",
        .arguments = "",
        .text =
            "Nesterov's accelerated gradient for smooth convex functions; gradients are taken at y",
        .source = "Nesterov 1983, momentum (t-1)/(t+2)",
        .options = {},
        .make = [](const Settings&, std::vector<double> initial,
                   double l2) -> std::unique_ptr<Optimizer> {
            return std::make_unique<NesterovAgd>(std::move(initial), l2);
        }};
}

}  // namespace quorate
