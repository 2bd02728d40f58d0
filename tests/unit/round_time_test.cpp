// SPDX-License-Identifier: BSD-2-Clause
// Times of rounds under the virtual clock against their closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "simulation.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using namespace test;

double sum(const std::vector<double>& seconds)
{
    return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

// Mean and variance, each within three of its standard errors.
void expect_mean(const std::vector<double>& seconds, double mean, const std::string& what)
{
    const auto count = static_cast<double>(seconds.size());
    const double got = sum(seconds) / count;
    double square = 0;
    for (const double x : seconds) square += (x - got) * (x - got);
    EXPECT_NEAR(got, mean, 3 * std::sqrt(square / count / count)) << what;
}

void expect_variance(const std::vector<double>& seconds, double variance, const std::string& what)
{
    const auto count = static_cast<double>(seconds.size());
    const double mean = sum(seconds) / count;
    double second = 0, fourth = 0;
    for (const double x : seconds) {
        const double square = (x - mean) * (x - mean);
        second += square / count;
        fourth += square * square / count;
    }
    EXPECT_NEAR(second, variance, 3 * std::sqrt((fourth - second * second) / count)) << what;
}

double choose(int n, int k)
{
    return k < 0 || k > n
               ? 0
               : std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1));
}

// That j random responders cover all groups.
double covered(int n, int d, int j)
{
    const int groups = n / d;
    double sum = 0;
    for (int i = 0; i <= groups; ++i)
        sum += (i % 2 ? -1 : 1) * choose(groups, i) * choose(n - i * d, j) / choose(n, j);
    return sum;
}

// Integral over [0, infinity) of the probability that the round still goes on at t, where F(t) is
// the probability that a worker is done. Delays are at least `least`.
double expected(const std::function<double(double)>& going_on_at_f,
                const std::function<double(double)>& f, double least)
{
    // t = least + u / (1 - u), Simpson's rule on [0, 1).
    constexpr int steps = 2000;
    const auto value = [&](double u) {
        if (u >= 1) return 0.0;
        const double t = least + u / (1 - u);
        return going_on_at_f(f(t)) / ((1 - u) * (1 - u));
    };
    double integral = 0;
    for (int i = 0; i < steps; ++i) {
        const double a = static_cast<double>(i) / steps, b = static_cast<double>(i + 1) / steps;
        integral += (value(a) + 4 * value((a + b) / 2) + value(b)) * (b - a) / 6;
    }
    return least + integral;
}

struct Law {
    std::string delay;
    double least;
    std::function<double(double)> f;
};

const std::vector<Law>& laws()
{
    static const std::vector<Law> all = {
        {"exponential:0.5", 0, [](double t) { return 1 - std::exp(-2 * t); }},
        {"shifted-exponential:0.3,0.5", 0.3,
         [](double t) { return t < 0.3 ? 0 : 1 - std::exp(-2 * (t - 0.3)); }},
        {"pareto:0.2,3", 0.2, [](double t) { return t < 0.2 ? 0 : 1 - std::pow(0.2 / t, 3); }}};
    return all;
}

constexpr int n = 30;

// That fewer than r of n are done.
double fewer_than(int r, double f)
{
    double sum = 0;
    for (int j = 0; j < r; ++j) sum += choose(n, j) * std::pow(f, j) * std::pow(1 - f, n - j);
    return sum;
}

struct Curve {
    std::string name;
    Simulation simulation;
    std::function<double(double)> going_on;  // of F(t)
};

std::vector<Curve> curves()
{
    std::vector<Curve> all = {
        {"uncoded", {"uncoded"}, [](double f) { return 1 - std::pow(f, n); }},
        {"ignore 5", {"ignore", {{"stragglers", "5"}}}, [](double f) { return fewer_than(25, f); }},
        {"cyclic, any 26", {"cyclic", {{"stragglers", "4"}}}, [](double f) {
             return fewer_than(26, f);
         }}};
    for (const int d : {2, 3, 5}) {
        const Options stragglers = {{"stragglers", std::to_string(d - 1)}};
        all.push_back({"frc " + std::to_string(d), {"frc", stragglers}, [d](double f) {
                           return 1 - std::pow(1 - std::pow(1 - f, d), n / d);
                       }});
        auto ones = stragglers;
        ones["coefficients"] = "ones";
        all.push_back({"residue class " + std::to_string(d), {"cyclic", ones}, [d](double f) {
                           return std::pow(1 - std::pow(f, n / d), d);
                       }});
    }
    for (const auto& [d, m] : {std::pair{3, 15}, {5, 10}, {2, 20}})
        all.push_back(
            {"agc " + std::to_string(d),
             {"agc", {{"stragglers", std::to_string(d - 1)}, {"collect", std::to_string(m)}}},
             [d = d, m = m](double f) {
                 double sum = 0;
                 for (int j = 0; j < m; ++j)
                     sum += choose(n, j) * std::pow(f, j) * std::pow(1 - f, n - j) *
                            (1 - covered(n, d, j));
                 return sum;
             }});
    return all;
}

TEST(RoundTime, OfEveryRuleUnderEveryLawIsItsIntegral)
{
    for (const auto& law : laws()) {
        for (auto& [name, simulation, going_on] : curves()) {
            simulation.delay = law.delay;
            expect_mean(simulation.run(), expected(going_on, law.f, law.least),
                        name + " " + law.delay);
        }
#ifdef __SANITIZE_ADDRESS__
        break;  // two minutes for all, and the code is the same
#endif
    }
}

TEST(RoundTime, OfExponentialDelaysIsTheClosedForm)
{
    const std::map<std::string, double> forms = {{"uncoded", harmonic(30)},
                                                 {"ignore 5", harmonic(30) - harmonic(5)},
                                                 {"cyclic, any 26", harmonic(30) - harmonic(4)},
                                                 {"frc 2", harmonic(15) / 2},
                                                 {"frc 3", harmonic(10) / 3},
                                                 {"frc 5", harmonic(6) / 5},
                                                 {"residue class 2", 2.642},
                                                 {"residue class 3", 1.989},
                                                 {"residue class 5", 1.284},
                                                 {"agc 3", 0.6614},
                                                 {"agc 5", 0.3685},
                                                 {"agc 2", 1.0589}};
    for (const auto& [name, simulation, going_on] : curves()) {
        const double integral = expected(
            going_on, [](double t) { return 1 - std::exp(-t); }, 0);
        EXPECT_NEAR(integral, forms.at(name), 6e-4) << name;
    }
    const auto variance = [](int r) {
        double sum = 0;
        for (int j = n - r + 1; j <= n; ++j) sum += 1.0 / (j * j);
        return sum;
    };
    expect_variance(Simulation{"uncoded"}.run(), variance(30), "uncoded");
    expect_variance(Simulation{"ignore", {{"stragglers", "5"}}}.run(), variance(25), "ignore 5");
}

TEST(RoundTime, OfParetoDelaysIsARatioOfGammas)
{
    const double scale = 0.2, shape = 3;
    for (const int s : {0, 5}) {
        Simulation simulation{"ignore", {{"stragglers", std::to_string(s)}}};
        simulation.delay = "pareto:0.2,3";
        const double mean = scale * std::exp(std::lgamma(n + 1) + std::lgamma(s + 1 - 1 / shape) -
                                             std::lgamma(s + 1) - std::lgamma(n + 1 - 1 / shape));
        expect_mean(simulation.run(), mean, "pareto");
    }
}

TEST(RoundTime, OfAdditiveNoiseAddsTheLoadAndOfMultiplicativeNoiseMultipliesIt)
{
    for (const auto& [scheme, d, row] :
         {std::tuple{"uncoded", 1, harmonic(30)}, {"frc", 3, harmonic(10) / 3}}) {
        Simulation simulation{scheme};
        if (d > 1) simulation.options["stragglers"] = std::to_string(d - 1);
        simulation.rows_each = 50;
        simulation.row_time = 0.002;  // 0.1 s a partition
        expect_mean(simulation.run(), 0.1 * d + row, "additive");
        simulation.delay = "none";
        simulation.slowdown = "shifted-exponential:1,0.5";
        expect_mean(simulation.run(), 0.1 * d * (1 + 0.5 * row), "multiplicative");
    }
}

TEST(RoundTime, SumsUnderErasureHeadDelaysAreThoseOfTheTable)
{
    const auto total = [](const std::string& scheme, const Options& options) {
        Simulation simulation{scheme, options};
        simulation.rounds = 100;
        simulation.delay = "erasurehead";
        return sum(simulation.run());
    };
    EXPECT_NEAR(total("uncoded", {}), 198.642, 5e-4);
    EXPECT_NEAR(total("ignore", {{"stragglers", "5"}}), 84.755, 5e-4);
    EXPECT_NEAR(total("cyclic", {{"stragglers", "5"}}), 84.755, 5e-4);
    EXPECT_NEAR(total("ignore", {{"stragglers", "15"}}), 32.309, 5e-4);
    const std::map<int, std::vector<double>> table = {{2, {80.417, 9.019, 19.092, 32.309, 52.101}},
                                                      {3, {49.990, 9.019, 19.092, 31.521, 43.880}},
                                                      {5, {24.754, 9.019, 17.917, 22.792, 24.754}},
                                                      {6, {19.101, 9.019, 16.681, 18.582, 19.101}},
                                                      {10, {9.416, 7.609, 9.389, 9.416, 9.416}}};
    for (const auto& [d, sums] : table) {
        const auto s = std::to_string(d - 1);
        EXPECT_NEAR(total("frc", {{"stragglers", s}}), sums[0], 5e-4) << "d = " << d;
        for (int m = 1; m <= 4; ++m)
            EXPECT_NEAR(total("agc", {{"stragglers", s}, {"collect", std::to_string(5 * m)}}),
                        sums[static_cast<std::size_t>(m)], 5e-4)
                << "d = " << d << ", m = " << 5 * m;
    }
}

}  // namespace
}  // namespace quorate
