// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "optimizer/optimizer.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using Reals = std::vector<double>;
/// The loss at a point, and its gradient.
using Function = std::function<double(std::span<const double>, Reals&)>;

std::unique_ptr<Optimizer> lbfgs(const Reals& initial, double l2 = 0, int memory = 10,
                                 double l1 = 0)
{
    const auto& one = test::entry(optimizers(), "lbfgs");
    return one.make(test::settings(one.options, {{"memory", std::to_string(memory)}}), initial,
                    {.l2 = l2, .l1 = l1});
}

// Tells an optimiser the loss and gradient at a point, which becomes the next one.
void evaluate(Optimizer& optimizer, const Function& f, double step, Reals& point)
{
    Reals g(point.size());
    optimizer.tell_loss(f(point, g));
    optimizer.update(g, step, point);
}

Function quadratic(const Reals& lambda)
{
    return [lambda](std::span<const double> w, Reals& g) {
        double sum = 0;
        for (std::size_t j = 0; j < lambda.size(); ++j) {
            g[j] = lambda[j] * (w[j] - 1);
            sum += g[j] * (w[j] - 1) / 2;
        }
        return sum;
    };
}

double rosenbrock(std::span<const double> w, Reals& g)
{
    const double a = 1 - w[0], b = w[1] - w[0] * w[0];
    g = {-2 * a - 400 * w[0] * b, 200 * b};
    return a * a + 100 * b * b;
}

TEST(Lbfgs, ItsFirstDirectionIsAGradientStep)
{
    Reals point = {1, -2};
    const auto optimizer = lbfgs(point, 0.25);
    evaluate(*optimizer, quadratic({2, 4}), 0.1, point);
    EXPECT_DOUBLE_EQ(point[0], 1 - 0.1 * (2 * 0 + 0.5));
    EXPECT_DOUBLE_EQ(point[1], -2 - 0.1 * (4 * -3 - 1));
    EXPECT_EQ(optimizer->model()[0], 1) << "the model is the accepted point, not the trial";
}

TEST(Lbfgs, WithOnePairTheDirectionIsTheFormulaOfTheBfgsUpdate)
{
    const auto f = quadratic({2, 5});
    Reals w = {0, 3}, point = w, g(2), h(2);
    const auto optimizer = lbfgs(w);
    const double step = 0.1;
    evaluate(*optimizer, f, step, point);  // at w
    const Reals y = point;
    evaluate(*optimizer, f, step, point);  // at y
    f(w, g);
    f(y, h);
    const double s[] = {y[0] - w[0], y[1] - w[1]}, v[] = {h[0] - g[0], h[1] - g[1]};
    const double sv = s[0] * v[0] + s[1] * v[1], vv = v[0] * v[0] + v[1] * v[1];
    const double alpha = (s[0] * h[0] + s[1] * h[1]) / sv;
    // H_0 = s.v / v.v, updated by the pair, and scaled.
    const double b = vv / sv, sbs = b * (s[0] * s[0] + s[1] * s[1]);
    double diagonal[2], vhv = 0, inverse = 0;
    for (int j = 0; j < 2; ++j) {
        diagonal[j] = 1 / (b - b * s[j] * b * s[j] / sbs + v[j] * v[j] / sv);
        vhv += diagonal[j] * v[j] * v[j];
        inverse += s[j] * s[j] / diagonal[j];
    }
    double q[2];
    for (int j = 0; j < 2; ++j)
        q[j] = (h[static_cast<std::size_t>(j)] - alpha * v[j]) * diagonal[j] *
               std::sqrt(inverse / vhv);
    const double beta = (v[0] * q[0] + v[1] * q[1]) / sv;
    for (int j = 0; j < 2; ++j)
        EXPECT_NEAR(point[static_cast<std::size_t>(j)],
                    y[static_cast<std::size_t>(j)] - q[j] - (alpha - beta) * s[j], 1e-14);
}

TEST(Lbfgs, AQuadraticIsMinimisedInFewerRoundsThanItsConditionNeedsWithGradients)
{
    Reals lambda, point(50, 0.0);
    for (int j = 0; j < 50; ++j) lambda.push_back(std::pow(10.0, -4 * j / 49.0));
    const auto f = quadratic(lambda);
    const auto optimizer = lbfgs(point);
    for (int round = 0; round < 150; ++round) evaluate(*optimizer, f, 1, point);
    for (const double w : optimizer->model().doubles()) EXPECT_NEAR(w, 1, 1e-6);
}

TEST(Lbfgs, TheObjectiveNeverGrowsAndACurvedValleyIsFollowed)
{
    Reals point = {-1.2, 1}, g(2);
    const auto optimizer = lbfgs(point);
    double last = rosenbrock(point, g);
    int refused = 0;
    for (int round = 0; round < 120; ++round) {
        evaluate(*optimizer, rosenbrock, 0.001, point);
        const double now = rosenbrock(optimizer->model(), g);
        EXPECT_LE(now, last * (1 + 1e-10)) << round;
        last = now;
        refused += optimizer->taken(1) == 0;
    }
    EXPECT_NEAR(optimizer->model()[0], 1, 1e-6);
    EXPECT_NEAR(optimizer->model()[1], 1, 1e-6);
    EXPECT_GT(refused, 0);
}

TEST(Lbfgs, NegativeCurvatureGivesNoPair)
{
    // -cos has its maximum's curvature at 3: the pair would make an ascent direction.
    const Function f = [](std::span<const double> w, Reals& g) {
        g[0] = std::sin(w[0]);
        return -std::cos(w[0]);
    };
    Reals point = {3.0};
    const auto optimizer = lbfgs(point);
    for (int round = 0; round < 60; ++round) evaluate(*optimizer, f, 0.5, point);
    EXPECT_NEAR(std::cos(optimizer->model()[0]), 1, 1e-12);
}

TEST(Lbfgs, EndsWhereRoundingHidesAllProgress)
{
    Reals point = {5, 5, 5};
    const auto optimizer = lbfgs(point);
    const auto f = quadratic({1, 2, 3});
    int rounds = 0;
    for (; rounds < 500 && !optimizer->exhausted(); ++rounds) evaluate(*optimizer, f, 0.3, point);
    EXPECT_LT(rounds, 200);
    for (const double w : optimizer->model().doubles()) EXPECT_NEAR(w, 1, 1e-8);
    const Reals model = optimizer->model().doubles();
    evaluate(*optimizer, f, 0.3, point);
    EXPECT_EQ(point, model);
}

TEST(Lbfgs, AnL1TermPutsEachParameterWhereItsSoftThresholdIs)
{
    // The sum of lambda_j (w_j - 1)^2 / 2 and |w_j| / 2 is least at w_j = max(0, 1 - 1 / (2
    // lambda_j)).
    Reals lambda, point;
    for (int j = 0; j < 40; ++j) {
        lambda.push_back(std::pow(10.0, -1 + 3 * j / 39.0));
        point.push_back(j % 3 - 1);
    }
    const auto f = quadratic(lambda);
    const auto optimizer = lbfgs(point, 0, 10, 0.5);
    for (int round = 0; round < 200; ++round) evaluate(*optimizer, f, 0.01, point);
    for (std::size_t j = 0; j < lambda.size(); ++j) {
        const double least = std::max(0.0, 1 - 0.5 / lambda[j]);
        EXPECT_NEAR(optimizer->model()[j], least, 1e-7) << j;
        EXPECT_EQ(optimizer->model()[j] == 0, least == 0) << j;
    }
}

TEST(Lbfgs, WithAnL1TermNoTrialCrossesZeroAndTheObjectiveFalls)
{
    constexpr double l1 = 3;
    Reals point = {-1.2, 1}, g(2);
    const auto optimizer = lbfgs(point, 0, 10, l1);
    double last = rosenbrock(point, g) + l1 * 2.2;
    for (int round = 0; round < 200; ++round) {
        const Reals from = optimizer->model().doubles();
        evaluate(*optimizer, rosenbrock, 0.001, point);
        const auto w = optimizer->model();
        for (int j = 0; j < 2; ++j)
            EXPECT_GE(w[j] * point[static_cast<std::size_t>(j)], 0) << round;
        const double now = rosenbrock(w, g) + l1 * (std::abs(w[0]) + std::abs(w[1]));
        EXPECT_LE(now, last) << round;
        last = now;
    }
    // The valley ends at the origin: there both derivatives of the first term, -2 and 0, are below
    // l1.
    EXPECT_EQ(optimizer->model()[0], 0);
    EXPECT_EQ(optimizer->model()[1], 0);
    EXPECT_TRUE(optimizer->exhausted());
}

TEST(Lbfgs, ItsMemoryIsAllThatItRemembers)
{
    Reals point = {-1.2, 1};
    const auto one = lbfgs(point, 1e-3, 3);
    for (int round = 0; round < 17; ++round) evaluate(*one, rosenbrock, 0.001, point);
    const auto other = lbfgs({0, 0}, 1e-3, 3);
    const auto from = one->memory();
    auto to = other->memory();
    ASSERT_EQ(from.size(), to.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
        ASSERT_EQ(from[i].size(), to[i].size());
        copy(from[i], to[i]);
    }
    other->updates() = one->updates();
    Reals same = point;
    for (int round = 0; round < 40; ++round) {
        evaluate(*one, rosenbrock, 0.001, point);
        evaluate(*other, rosenbrock, 0.001, same);
        ASSERT_EQ(point, same) << round;
        ASSERT_EQ(one->taken(1), other->taken(1));
    }
}

TEST(Lbfgs, ThreadsChangeNoBit)
{
    Reals lambda;
    for (int j = 0; j < 20000; ++j) lambda.push_back(1 + std::sin(j));
    const auto f = quadratic(lambda);
    Reals first;
    for (const int threads : {1, 3}) {
        Reals point(lambda.size(), 0.0);
        const auto optimizer = lbfgs(point, 1e-4);
        optimizer->use_threads(threads);
        for (int round = 0; round < 20; ++round) evaluate(*optimizer, f, 0.5, point);
        if (first.empty()) first = point;
        EXPECT_EQ(first, point);
    }
}

}  // namespace
}  // namespace quorate
