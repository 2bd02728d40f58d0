// SPDX-License-Identifier: BSD-2-Clause
#include "optimizer/optimizer.hpp"

#include "optimizer/schedule.hpp"

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

std::unique_ptr<Optimizer> make(const std::string& name, const Reals& initial,
                                const Regularizer& regularizer = {},
                                const std::map<std::string, std::string>& given = {})
{
    const auto& one = test::entry(optimizers(), name);
    return one.make(test::settings(one.options, given), initial, regularizer);
}

TEST(Optimizers, OneStepIsTheClosedForm)
{
    const Reals w = {1, -2}, g = {0.5, 3};
    const double step = 0.1, l2 = 0.25;
    for (const std::string name : {"gd", "agd", "agd-eh"}) {
        const auto optimizer = make(name, w, {l2});
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

// What two models tell of a rule is what it was: then its next update is the same.
TEST(Optimizers, ARuleStandsWhereItsModelsSay)
{
    std::map<std::string, Optimizer::Told> told;
    for (const auto& entry : optimizers()) {
        const auto rule = make(entry.name, {1, -2}, {0.25, 0.01});
        Reals before, point(2), next(2);
        for (const Reals& g : {Reals{0.5, 3}, Reals{-1, 0.25}, Reals{2, 1}}) {
            before = rule->model().doubles();
            rule->tell_loss(g[0]);
            rule->update(g, 0.1, point);
        }
        const auto again = make(entry.name, {0, 0}, {0.25, 0.01});
        again->updates() = 3;
        Reals same(2);
        told[entry.name] = again->retrace(before, rule->model(), same);
        if (told[entry.name] == Optimizer::Told::nothing) continue;
        EXPECT_EQ(same, point) << entry.name;
        EXPECT_EQ(again->model().doubles(), rule->model().doubles()) << entry.name;
        if (told[entry.name] == Optimizer::Told::point) continue;
        Reals other(2);
        rule->update(Reals{1, -1}, 0.1, next);
        again->update(Reals{1, -1}, 0.1, other);
        EXPECT_EQ(next, other) << entry.name;
    }
    EXPECT_EQ(told["gd"], Optimizer::Told::state);
    EXPECT_EQ(told["agd"], Optimizer::Told::state);
    EXPECT_EQ(told["agd-eh"], Optimizer::Told::state);
    EXPECT_EQ(told["adam"], Optimizer::Told::point);
    EXPECT_EQ(told["lbfgs"], Optimizer::Told::nothing);
    // Gradients of agd are taken beyond the model, by how far it went last.
    Reals point(2);
    EXPECT_EQ(make("agd", {0, 0})->retrace({}, point, point), Optimizer::Told::nothing);
}

TEST(Optimizers, GradientDescentContractsAQuadraticByTheKnownFactors)
{
    const Quadratic f{{0.5, 1, 3}, 0.1};
    const double step = 0.4;
    const auto gd = make("gd", {1, 1, 1}, {f.l2});
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
    const auto optimizer = make("agd-eh", initial, {f.l2});
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

        // theta = 2/(t+2); y = (1-theta) v + theta u; v+ = y - step g(v) - 2 l2 step v; u = v + (v+
        // - v)/theta
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
    const auto agd = make("agd", {1}, {l2});
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

Reals one_step(const std::string& name, const Reals& w, const Reals& g, double step,
               const Regularizer& regularizer = {},
               const std::map<std::string, std::string>& given = {})
{
    Reals next(w.size());
    make(name, w, regularizer, given)->update(g, step, next);
    return next;
}

TEST(Optimizers, MomentumIsTheRecursionOfTensorFlow)
{
    const auto momentum = make("momentum", {1}, {.l2 = 0.25});
    Reals w = {1};
    momentum->update(Reals{2}, 0.1, w);  // v = 2 + 0.5
    EXPECT_NEAR(w[0], 0.75, 1e-15);
    momentum->update(Reals{1}, 0.1, w);  // v = 0.9 * 2.5 + 1 + 0.375
    EXPECT_NEAR(w[0], 0.75 - 0.3625, 1e-15);
}

TEST(Optimizers, NesterovsMomentumGoesOnAsIfTheGradientCameOnceMore)
{
    const auto momentum = make("momentum", {1}, {.l2 = 0.25}, {{"nesterov", "on"}});
    Reals w = {1};
    momentum->update(Reals{2}, 0.1, w);  // g' = v = 2 + 0.5
    EXPECT_NEAR(w[0], 1 - 0.1 * (2.5 + 0.9 * 2.5), 1e-15);
    const double g = 1 + 0.5 * w[0], v = 0.9 * 2.5 + g, before = w[0];
    momentum->update(Reals{1}, 0.1, w);
    EXPECT_NEAR(w[0], before - 0.1 * (g + 0.9 * v), 1e-15);
}

TEST(Optimizers, RmspropStartsItsMeanAtOne)
{
    const double s = 0.9 + 0.1 * 4;
    EXPECT_NEAR(one_step("rmsprop", {1}, {2}, 0.1)[0], 1 - 0.1 * 2 / std::sqrt(s + 1e-10), 1e-15);
}

TEST(Optimizers, AdamsFirstStepIsTheSignOfTheGradient)
{
    const auto next = one_step("adam", {0, 0, 0}, {5, -2, 0}, 0.3);
    EXPECT_NEAR(next[0], -0.3, 1e-6);
    EXPECT_NEAR(next[1], 0.3, 1e-6);
    EXPECT_EQ(next[2], 0);
}

TEST(Optimizers, AdamIsItsRecursion)
{
    const auto adam = make("adam", {1}, {}, {{"beta1", "0.8"}, {"beta2", "0.99"}});
    Reals w = {1};
    double m = 0, v = 0, expected = 1;
    for (int t = 1; t <= 5; ++t) {
        const double g = std::sin(t);
        adam->update(Reals{g}, 0.1, w);
        m = 0.8 * m + 0.2 * g;
        v = 0.99 * v + 0.01 * g * g;
        expected -= 0.1 * std::sqrt(1 - std::pow(0.99, t)) / (1 - std::pow(0.8, t)) * m /
                    (std::sqrt(v) + 1e-8);
        EXPECT_NEAR(w[0], expected, 1e-14);
    }
}

TEST(Optimizers, AdamWAndAmsgradAreTheirRecursions)
{
    const auto adamw = make("adamw", {1}, {}, {{"weight-decay", "0.3"}});
    const auto amsgrad = make("amsgrad", {1}, {}, {});
    Reals w(1), a(1);
    double m = 0, v = 0, most = 0, of_adamw = 1, of_amsgrad = 1;
    for (int t = 1; t <= 9; ++t) {
        const double g = t == 1 ? 30 : std::sin(t);  // v falls after the first
        adamw->update(Reals{g}, 0.1, w);
        amsgrad->update(Reals{g}, 0.1, a);
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        most = std::max(most, v);
        const auto step = 0.1 * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t));
        of_adamw = (1 - 0.1 * 0.3) * of_adamw - step * m / (std::sqrt(v) + 1e-8);
        of_amsgrad -= step * m / (std::sqrt(most) + 1e-8);
        EXPECT_NEAR(w[0], of_adamw, 1e-14);
        EXPECT_NEAR(a[0], of_amsgrad, 1e-14);
    }
    EXPECT_GT(std::abs(most - v), 1e-3);
    EXPECT_EQ(amsgrad->memory().size(), 4U);
}

TEST(Optimizers, DualAveragingIsMinusTheSumOverBeta)
{
    const auto dual =
        make("dual-averaging", {9}, {}, {{"beta-constant", "2"}, {"beta-growth", "4"}});
    Reals w(1);
    dual->update(Reals{3}, 1, w);
    EXPECT_NEAR(w[0], -3 / (2 + 0.5), 1e-15);
    dual->update(Reals{1}, 1, w);
    EXPECT_NEAR(w[0], -4 / (2 + std::sqrt(0.5)), 1e-15);
    // -(3, 4) / 2 has norm 2.5.
    EXPECT_NEAR(one_step("dual-averaging", {0, 0}, {3, 4}, 1, {}, {{"radius", "0.5"}})[0], -0.3,
                1e-15);
}

TEST(Optimizers, NesterovScHasTheMomentumOfItsCondition)
{
    const auto nesterov = make("nesterov-sc", {1}, {}, {{"condition", "9"}});
    Reals y(1);
    nesterov->update(Reals{2}, 0.1, y);
    EXPECT_NEAR(nesterov->model()[0], 0.8, 1e-15);
    EXPECT_NEAR(y[0], 0.8 + 0.5 * (0.8 - 1), 1e-15);
}

TEST(Optimizers, AgdReachesItsBound)
{
    const Quadratic f{{0.001, 0.1, 1}};  // L = 1
    const Reals start = {5, -3, 2};
    const auto agd = make("agd", start);
    Reals y = start, g(3);
    double distance = 0;
    for (const double x : start) distance += x * x;
    for (int t = 1; t <= 200; ++t) {
        f.gradient(y, g);
        agd->update(g, 1, y);
        EXPECT_LE(f.value(agd->model()), 2 * distance / ((t + 1.0) * (t + 1.0)));
    }
}

// min (w - c)^2 / 2 + l1 |w| has the solution sign(c) max(0, |c| - l1).
TEST(Optimizers, TheProximalStepFindsTheShrunkSolution)
{
    const Reals c = {3, -0.5, 0.2};
    for (const std::string name : {"gd", "agd", "agd-eh", "nesterov-sc", "dual-averaging"}) {
        const auto optimizer = make(name, {1, 1, 1}, {.l1 = 0.4});
        Reals point = {1, 1, 1}, g(3);
        const bool averages = name == "dual-averaging";
        for (int t = 0; t < (averages ? 200000 : 2000); ++t) {
            for (std::size_t j = 0; j < 3; ++j) g[j] = point[j] - c[j];
            optimizer->update(g, 0.1, point);
        }
        const double tolerance = averages ? 0.04 : name == "agd-eh" ? 1e-3 : 1e-6;
        EXPECT_NEAR(optimizer->model()[0], 2.6, tolerance) << name;
        EXPECT_NEAR(optimizer->model()[1], -0.1, tolerance) << name;
        EXPECT_NEAR(optimizer->model()[2], 0, tolerance) << name;
    }
    EXPECT_NEAR((Regularizer{.l2 = 2, .l1 = 3}.value(Reals{1, -2})), 10 + 9, 1e-15);
}

Schedule schedule(const std::string& text, double step, std::int64_t rounds, double epoch = 1,
                  const std::string& warmup = "0")
{
    const auto settings = test::settings({{"schedule", text}, {"warmup", warmup}});
    return schedule_of(settings, step, {rounds, epoch});
}

TEST(Schedules, AreTheFormulas)
{
    EXPECT_EQ(schedule("constant", 2, 10)(7), 2);
    EXPECT_EQ(schedule("inverse:90", 10, 10)(10), 9);
    EXPECT_NEAR(schedule("geometric:0.98", 0.1, 10)(3), 0.1 * 0.98 * 0.98 * 0.98, 1e-16);
    EXPECT_EQ(schedule("step:50,0.5", 8, 200)(49), 8);
    EXPECT_EQ(schedule("step:50,0.5", 8, 200)(100), 2);
    EXPECT_EQ(schedule("linear:1", 5, 5)(0), 5);
    EXPECT_EQ(schedule("linear:1", 5, 5)(4), 1);
    EXPECT_EQ(schedule("linear:1", 5, 5)(2), 3);
    EXPECT_EQ(schedule("linear:0", 5, 1)(0), 5);
}

TEST(Schedules, AListHasAFactorFromEachPlaceOn)
{
    const auto steps = schedule("list:3=0.5,5=0.1,7.5=2", 8, 10);
    const Reals wanted = {8, 8, 8, 4, 4, 0.8, 0.8, 0.8, 16, 16};
    for (std::size_t t = 0; t < wanted.size(); ++t)
        EXPECT_DOUBLE_EQ(steps(static_cast<double>(t)), wanted[t]) << t;
    EXPECT_DOUBLE_EQ(steps(2.999), 8);  // a round may take a part of a batch
    EXPECT_EQ(largest_step(steps, 8), 8);
    EXPECT_EQ(largest_step(steps, 9), 16);
}

TEST(Schedules, EpochsAreSoManyBatches)
{
    const double epoch = 7.5;  // 750 rows, batches of 100
    const auto listed = schedule("list:2e=0.5", 8, 100, epoch);
    EXPECT_EQ(listed(14.9), 8);
    EXPECT_EQ(listed(15), 4);
    const auto same = [&](const std::string& one, const std::string& other) {
        const auto a = schedule(one, 8, 100, epoch), b = schedule(other, 8, 100);
        for (double t = 0; t < 100; ++t) EXPECT_EQ(a(t), b(t)) << one << " after " << t;
    };
    same("step:2e,0.5", "step:15,0.5");
    same("inverse:4e", "inverse:30");
    same("inverse-sqrt:0.4e", "inverse-sqrt:3");
}

TEST(Schedules, AWarmUpRisesToWhatTheScheduleSays)
{
    const auto steps = schedule("list:6=0.5", 8, 10, 2, "4");
    const Reals wanted = {2, 4, 6, 8, 8, 8, 4, 4, 4, 4};
    for (std::size_t t = 0; t < wanted.size(); ++t)
        EXPECT_EQ(steps(static_cast<double>(t)), wanted[t]) << t;
    EXPECT_EQ(schedule("constant", 8, 10, 2, "2e")(1), 4);
    EXPECT_EQ(schedule("constant", 8, 10, 2, "0")(0), 8);
    EXPECT_EQ(largest_step(schedule("constant", 8, 10, 1, "20"), 10), 4);
    for (const auto* wrong : {"-1", "nan", "e", "x", "3 e s"})
        EXPECT_EQ(test::refusal([&] { schedule("constant", 8, 10, 2, wrong); }),
                  std::string("--warmup is ") + wrong +
                      ": write a number of batches, or of epochs as 5e");
}

TEST(Schedules, ArgumentsThatAreNoneAreRefusedWithTheForm)
{
    const auto wrong = [](const std::string& text) {
        return test::refusal([&] { schedule(text, 1, 10); });
    };
    EXPECT_EQ(wrong("inverse"),
              "--schedule is inverse: write inverse:T0, step T0 / (t + T0) after t batches");
    EXPECT_EQ(wrong("step:5"),
              "--schedule is step:5: write step:EVERY,FACTOR, multiplied with "
              "FACTOR after EVERY batches");
    EXPECT_EQ(wrong("constant:5"),
              "--schedule is constant:5: write constant, the same step all the time");
    EXPECT_EQ(wrong("constant:"),
              "--schedule is constant:: write constant, the same step all the time");
    EXPECT_EQ(
        wrong("geometric:-1"),
        "--schedule is geometric:-1, but R is -1, not a number above 0: write geometric:R, step "
        "R^t after t batches");
    for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
             {"list", ""},
             {"list:", ""},
             {"list:5", ""},
             {"list:5=0", ", but FACTOR is 0, not a number above 0"},
             {"list:0=1", ""},
             {"list:5=-1", ", but FACTOR is -1, not a number above 0"},
             {"list:5=1,5=2", ""},
             {"list:5=1,4=2", ""},
             {"list:5e=1,x=2", ""},
             {"list:5=1,", ""}})
        EXPECT_EQ(wrong(text),
                  "--schedule is " + text + why +
                      ": write list:T=FACTOR,..., FACTOR times --step from T batches on, T "
                      "ascending: list:30e=0.1,60e=0.01");
    for (const std::string text : {"geometric:1e", "step:2,1e", "linear:1e"})
        EXPECT_EQ(wrong(text).substr(0, 14), "--schedule is ") << text;
}

}  // namespace
}  // namespace quorate
