// SPDX-License-Identifier: BSD-2-Clause
#include "optimizer/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support.hpp"

namespace quorate {
namespace {

using Reals = std::vector<double>;

/// Minimises f(w) = sum_j lambda_j w_j^2 / 2 + l2 |w|^2, whose gradient without l2 is lambda_j w_j.
struct Quadratic {
    Reals lambda;
    double l2 = 0;

    double value(std::span<const double> w) const
    {
        double sum = 0;
        for (std::size_t j = 0; j < lambda.size(); ++j) sum += (lambda[j] / 2 + l2) * w[j] * w[j];
        return sum;
    }
    void gradient(std::span<const double> at, Reals& g) const
    {
        for (std::size_t j = 0; j < lambda.size(); ++j) g[j] = lambda[j] * at[j];
    }
};

std::unique_ptr<Optimizer> make(const std::string& name, const Reals& initial, double l2 = 0)
{
    return test::entry(optimizers(), name).make(Settings(), {initial.begin(), initial.end()}, l2);
}

TEST(Optimizers, OneStepIsTheClosedForm)
{
    const Reals w = {1, -2}, g = {0.5, 3};
    const double step = 0.1, l2 = 0.25;
    for (const std::string name : {"gd", "agd", "agd-eh"}) {
        const auto optimizer = make(name, w, l2);
        Reals next(2);
        optimizer->update(g, step, next);
        for (std::size_t j = 0; j < 2; ++j) {
            // agd-eh discards the initial point, but for its regulariser; agd's first y is w_1.
            const double kept = (name == "agd-eh" ? 0 : 1) - 2 * l2 * step;
            EXPECT_NEAR(next[j], kept * w[j] - step * g[j], 1e-15) << name;
            EXPECT_EQ(next[j], optimizer->model()[j]) << name;
        }
    }
}

TEST(Optimizers, BeforeAnyUpdateTheModelIsTheInitialPoint)
{
    for (const auto& entry : optimizers()) {
        const auto optimizer = make(entry.name, {3, 4});
        EXPECT_EQ(optimizer->model()[0], 3) << entry.name;
        EXPECT_EQ(optimizer->model()[1], 4) << entry.name;
    }
}

TEST(Optimizers, GradientDescentContractsAQuadraticByTheKnownFactors)
{
    const Quadratic f{{0.5, 1, 3}, 0.1};
    const double step = 0.4;
    const auto gd = make("gd", {1, 1, 1}, f.l2);
    Reals w = {1, 1, 1}, g(3);
    for (int t = 1; t <= 20; ++t) {
        f.gradient(w, g);
        gd->update(g, step, w);
        for (std::size_t j = 0; j < 3; ++j)
            EXPECT_NEAR(w[j], std::pow(1 - step * (f.lambda[j] + 2 * f.l2), t), 1e-13);
    }
}

TEST(Optimizers, AgdEhIsTheHeavyBallAndTheRecursionOfThePublicCode)
{
    const Quadratic f{{0.3, 1.1, 2.7}, 0.05};
    const double step = 0.3;
    const Reals initial = {5, -1, 2};
    const auto optimizer = make("agd-eh", initial, f.l2);
    Reals next = initial, g(3), w = initial, before(3), u(3, 0.0), v = initial;
    for (int t = 0; t < 60; ++t) {
        f.gradient(next, g);
        optimizer->update(g, step, next);

        // Heavy ball: w + (t-1)/(t+2) (w - before) - step (g + 2 l2 w); at t = 0 without w itself.
        Reals ball(3);
        for (std::size_t j = 0; j < 3; ++j) {
            const double momentum = t > 0 ? (t - 1.0) / (t + 2.0) : 0;
            ball[j] = (t > 0 ? w[j] + momentum * (w[j] - before[j]) : 0) -
                      step * (f.lambda[j] * w[j] + 2 * f.l2 * w[j]);
        }
        before = w;
        w = ball;

        // theta = 2/(t+2); y = (1-theta) v + theta u; v+ = y - step g(v) - 2 l2 step v; u = v + (v+ - v)/theta
        const double theta = 2.0 / (t + 2);
        for (std::size_t j = 0; j < 3; ++j) {
            const double y = (1 - theta) * v[j] + theta * u[j];
            const double plus = y - step * f.lambda[j] * v[j] - 2 * f.l2 * step * v[j];
            u[j] = v[j] + (plus - v[j]) / theta;
            v[j] = plus;
        }
        for (std::size_t j = 0; j < 3; ++j) {
            EXPECT_NEAR(next[j], w[j], 1e-14) << "t " << t;
            EXPECT_NEAR(next[j], v[j], 1e-12) << "t " << t;
        }
    }
}

TEST(Optimizers, AgdKeepsNesterovsBound)
{
    // A badly conditioned quadratic, so that the bound bites for long.
    Quadratic f;
    for (int j = 0; j < 50; ++j) f.lambda.push_back(std::pow(10.0, -j / 10.0));
    const double L = 1;
    const Reals initial(50, 1.0);
    const auto agd = make("agd", initial);
    EXPECT_FALSE(agd->publishes_model());
    Reals y = initial, g(50);
    for (int t = 1; t <= 500; ++t) {
        f.gradient(y, g);
        agd->update(g, 1 / L, y);
        EXPECT_LE(f.value(agd->model()), 2 * L * 50 / ((t + 1.0) * (t + 1.0))) << "t " << t;
    }
}

TEST(Optimizers, AgdTakesGradientAndRegulariserAtY)
{
    const double step = 0.2, l2 = 0.1;
    const auto agd = make("agd", {1}, l2);
    Reals y = {1};
    double w = 1, expected_y = 1;
    for (int t = 0; t < 30; ++t) {
        const double g = 2 * expected_y + 1;
        agd->update(Reals{g}, step, y);
        const double next = expected_y - step * (g + 2 * l2 * expected_y);
        expected_y = next + t / (t + 3.0) * (next - w);
        w = next;
        EXPECT_NEAR(agd->model()[0], w, 1e-14);
        EXPECT_NEAR(y[0], expected_y, 1e-14);
    }
}

}  // namespace
}  // namespace quorate
