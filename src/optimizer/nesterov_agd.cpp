// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>

#include "optimizer/rule.hpp"

namespace quorate {

namespace {

// Nesterov's accelerated gradient, proximal (FISTA):
//   w_{t+1} = prox(y_t - step (g(y_t) + 2 l2 y_t)),   y_{t+1} = w_{t+1} + momentum (w_{t+1} - w_t)
// with y_0 = w_0, so that the initial point counts. The point published is y.
class Nesterov : public Rule {
public:
    using Rule::Rule;

    void update(std::span<const double> estimate, double step, std::span<double> next) override
    {
        const double kept = regularizer_.kept(step);
        const double momentum = this->momentum(updates_);
        for_parameters([=, regularizer = regularizer_, w = w_.data(), y = y_.data(),
                        g = estimate.data(), point = next.data()](std::size_t i) {
            const double now = regularizer.shrunk(kept * y[i] - step * g[i], step);
            point[i] = y[i] = now + momentum * (now - w[i]);
            w[i] = now;
        });
        ++updates_;
    }

    Told retrace(std::span<const double> before, std::span<const double> after,
                 std::span<double> point) override
    {
        if (before.empty()) return Told::nothing;
        const double momentum = this->momentum(updates_ - 1);
        for (std::size_t i = 0; i < w_.size(); ++i) {
            w_[i] = after[i];
            point[i] = y_[i] = after[i] + momentum * (after[i] - before[i]);
        }
        return Told::state;
    }

    std::vector<Numbers> memory() override { return {w_, y_}; }

private:
    virtual double momentum(long t) const = 0;

    std::vector<double> y_ = w_;
};

// For convex functions: theta = 2 / (t + 2) and u_{t+1} = w_t + (w_{t+1} - w_t) / theta_t give
//   y_{t+1} = (1 - theta_{t+1}) w_{t+1} + theta_{t+1} u_{t+1}, a momentum of t / (t + 3).
class NesterovAgd final : public Nesterov {
    using Nesterov::Nesterov;
    double momentum(long t) const override
    {
        return static_cast<double>(t) / static_cast<double>(t + 3);
    }
};

class NesterovStronglyConvex final : public Nesterov {
public:
    NesterovStronglyConvex(const NesterovStronglyConvexOptions& given, std::vector<double> initial,
                           const Regularizer& regularizer)
        : Nesterov(std::move(initial), regularizer), root_(std::sqrt(given.condition))
    {
    }

private:
    double momentum(long) const override { return (root_ - 1) / (root_ + 1); }
    double root_;
};

}  // namespace

OptimizerEntry<NesterovAgdOptions> NesterovAgdOptions::entry()
{
    return {
        .name = "agd",
        .text =
            "Nesterov's accelerated gradient for smooth convex functions; gradients are taken at y",
        .source = "Nesterov 1983, momentum (t-1)/(t+2); with --l1 FISTA",
        .make = make_rule<NesterovAgd>,
        .properties = {.by_curvature = true, .shares = true}};
}

OptimizerEntry<NesterovStronglyConvexOptions> NesterovStronglyConvexOptions::entry()
{
    return {.name = "nesterov-sc",
            .text =
                "Nesterov's accelerated gradient for strongly convex functions of known "
                "--condition",
            .source = "Nesterov 2004, momentum (sqrt(k)-1)/(sqrt(k)+1)",
            .options = {{&NesterovStronglyConvexOptions::condition,
                         {"condition", "K", "100",
                          "largest over smallest curvature of the objective, L / mu"},
                         {.lowest = 1}}},
            .make = make_rule<NesterovStronglyConvex>,
            .properties = {.by_curvature = true, .shares = true}};
}

}  // namespace quorate
