// SPDX-License-Identifier: BSD-2-Clause
// Codes with short messages: every pattern of stragglers, the choice among codes, and what they
// cost.
#include "code/short_code.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "base/error.hpp"
#include "code/cyclic_matrix.hpp"
#include "code/null_space_decoder.hpp"
#include "compute/fold.hpp"
#include "legal_run.hpp"
#include "patterns.hpp"
#include "simulation.hpp"

namespace quorate {
namespace {

using namespace test;

ShortCode fourier(int n, int s, int m) { return ShortCode(*fourier_basis(n, s, m)); }

// The pieces of random gradients of partitions, one column for each element of a piece.
struct Gradients {
    Gradients(const ShortCode& code, int length)
        : pieces(static_cast<std::size_t>(code.workers()), Eigen::MatrixXd(code.pieces(), length)),
          sum(Eigen::MatrixXd::Zero(code.pieces(), length))
    {
        std::mt19937 generator(1);
        std::normal_distribution<double> normal;
        for (auto& one : pieces) {
            for (auto& element : one.reshaped()) element = normal(generator);
            sum += one;
        }
    }
    // Relative error of what is decoded without these workers.
    double error(const ShortCode& code, const std::vector<int>& missing) const
    {
        const auto weights = code.weights(missing);
        Eigen::MatrixXd decoded = Eigen::MatrixXd::Zero(sum.rows(), sum.cols());
        for (int i = 0; i < code.workers(); ++i) {
            Eigen::RowVectorXd message = Eigen::RowVectorXd::Zero(sum.cols());
            for (int j = 0; j < code.workers(); ++j)
                for (int u = 0; u < code.pieces(); ++u)
                    message +=
                        code.coefficient(j, u, i) * pieces[static_cast<std::size_t>(j)].row(u);
            decoded += weights.row(i).transpose() * message;
        }
        return (decoded - sum).norm() / sum.norm();
    }
    std::vector<Eigen::MatrixXd> pieces;
    Eigen::MatrixXd sum;
};

TEST(Fold, AddsThePiecesOfAGradientWithZerosBehindItsEnd)
{
    const std::vector<double> coefficients = {2, -1, 10};
    std::vector<double> sum = {100, 0};
    // Of five elements: pieces (1, 2), (3, 4), (5, 0).
    add_folded(coefficients, Support::all(5), std::vector<double>{1, 2, 3, 4, 5}, sum);
    EXPECT_EQ(sum, (std::vector<double>{100 + 2 - 3 + 50, 4 - 4}));
    sum = {0, 0};
    add_folded(coefficients, Support::of(5, {1, 4}), std::vector<double>{2, 5}, sum);
    EXPECT_EQ(sum, (std::vector<double>{50, 4}));
    EXPECT_EQ(folded_length(5, 3), 2u);
    EXPECT_EQ(folded_length(2, 3), 1u);
}

TEST(ShortCode, ReferenceExampleOfFiveWorkers)
{
    const auto code = fourier(5, 1, 2);
    const int holders[] = {0, 3, 4};
    const double first[] = {2.558336368008463, .977197537924274, -1.58113883008419};
    const double second[] = {1.858740172300922, 3.007504775037728, 1.148764602736806};
    for (int h = 0; h < 3; ++h) {
        EXPECT_NEAR(code.coefficient(0, 0, holders[h]), first[h], 1e-12);
        EXPECT_NEAR(code.coefficient(0, 1, holders[h]), second[h], 1e-12);
    }
    const auto a = code.weights({0});
    const double zero[] = {0, .511667273601693, -.195439507584855, .195439507584855,
                           -.511667273601693};
    const double one[] = {0, .166250775110981, .268999404785583, .268999404785583,
                          .166250775110981};
    const double sent[] = {-8.978546591892846, 4.107530770048085, 7.599096942760484,
                           -3.766218952328293, 1.720761466852152};
    Eigen::Vector2d sum = Eigen::Vector2d::Zero();
    for (int i = 0; i < 5; ++i) {
        EXPECT_NEAR(a(i, 0), zero[i], 1e-12);
        EXPECT_NEAR(a(i, 1), one[i], 1e-12);
        double message = 0;
        for (int j = 0; j < code.workers(); ++j)
            for (int u = 0; u < 2; ++u)
                message += code.coefficient(j, u, i) * ((3 * j + 2 * u + 1) % 7 - 3);
        EXPECT_NEAR(message, sent[i], 1e-12);
        sum += a.row(i).transpose() * message;
    }
    EXPECT_NEAR(sum[0], -1, 1e-12);
    EXPECT_NEAR(sum[1], 2, 1e-12);
}

TEST(ShortCode, EveryPatternIsDecodedAndOnlyHoldersHaveCoefficients)
{
    for (int n = 3; n <= 12; ++n)
        for (int s = 0; s <= n - 2; ++s)
            for (int m = 1; s + m <= n && m <= 4; ++m) {
                const auto [code, amplification] = best_short_code(n, s, m, 1);
                ASSERT_LE(amplification, 1e6) << n << " " << s << " " << m;
                const Gradients gradients(code, 3);
                for_all_patterns(n, s, [&](const Pattern& missing) {
                    EXPECT_LE(gradients.error(code, missing), amplification > 1e3 ? 2e-12 : 1e-12)
                        << n << " " << s << " " << m << ", " << amplification;
                });
                for (int j = 0; j < n; ++j)
                    for (int i = 0; i < n; ++i) {
                        if ((j - i + n) % n < s + m) continue;
                        for (int u = 0; u < m; ++u) EXPECT_EQ(code.coefficient(j, u, i), 0);
                    }
            }
}

TEST(ShortCode, OneStragglerTooManyFailsTheResidualTest)
{
    const auto code = fourier(8, 2, 2);
    EXPECT_GT(code.residual(code.weights({0, 3, 5})), 1e-3);
    EXPECT_LE(code.residual(code.weights({0, 3})), 1e-9);
    EXPECT_LE(code.residual(code.weights({4})), 1e-9);
    EXPECT_LE(code.residual(code.weights({})), 1e-9);
}

TEST(ShortCode, ConditionIsThatOfTheTable)
{
    struct Row {
        int n, s, m;
        double fourier;       // largest |A B|, over runs of neighbours and random sets
        double most = 1e-12;  // error of sums by the chosen code
    };
    // Two digits of the reference are one significant one: within a factor of two.
    for (const auto& one :
         {Row{12, 3, 3, 30}, Row{20, 3, 3, 2e2}, Row{20, 5, 5, 4e3}, Row{30, 2, 2, 50},
          Row{30, 5, 5, 1e5}, Row{50, 5, 2, 5e4}, Row{100, 5, 2, 2e6}, Row{50, 3, 3, 0}}) {
        const auto code = fourier(one.n, one.s, one.m);
        if (one.fourier > 0) {  // known
            EXPECT_LE(std::abs(std::log2(code.amplification(1) / one.fourier)), 1) << one.n;
        }
        const auto [best, least] = best_short_code(one.n, one.s, one.m, 1);
        EXPECT_LE(least, code.amplification(1));
        EXPECT_LE(least, 5e3) << one.n << " " << one.s;
        const Gradients gradients(best, 3);
        double of_runs = 0, of_sets = 0;
        for (int first = 0; first < one.n; ++first) {
            std::vector<int> run;
            for (int i = 0; i < one.s; ++i) run.push_back((first + i) % one.n);
            of_runs = std::max(of_runs, gradients.error(best, run));
        }
        std::mt19937 generator(2);
        std::vector<int> order(static_cast<std::size_t>(one.n));
        std::iota(order.begin(), order.end(), 0);
        for (int set = 0; set < 300; ++set) {
            std::ranges::shuffle(order, generator);
            of_sets =
                std::max(of_sets, gradients.error(best, {order.begin(), order.begin() + one.s}));
        }
        fmt::print(
            "{}, {}, {}: |A B| {:.2g}, of Fourier {:.2g}; error of runs {:.1e}, of sets {:.1e}\n",
            one.n, one.s, one.m, least, code.amplification(1), of_runs, of_sets);
        EXPECT_LE(of_runs, 1e-12) << one.n << " " << one.s;
        EXPECT_LE(of_sets, 1e-11) << one.n << " " << one.s;
    }
}

TEST(ShortCode, WithWholeMessagesItIsTheCyclicCode)
{
    for (const auto& [n, s] : {std::pair(8, 3), std::pair(9, 2), std::pair(12, 5)}) {
        const auto code = fourier(n, s, 1);
        const auto cyclic = mds_code(n, s);
        const Pattern missing = {1, 4};
        const auto a = code.weights(missing);
        const auto x = decoding_weights(cyclic, missing);
        // Rows differ by a factor, which decoding makes up for.
        for (int i = 0; i < n; ++i)
            for (const auto& [j, value] : cyclic.encoding.rows[static_cast<std::size_t>(i)][0])
                EXPECT_NEAR(a(i, 0) * code.coefficient(j, 0, i), x[i] * value, 1e-12) << n;
    }
}

// Mean time of the (n - s)-th of n workers, each d T1 + T2 / m with T1 = t1 + Exp(l1), T2 = t2 +
// Exp(l2): the closed form that the source's model has.
double expected_time(int n, int d, int m)
{
    const double l1 = .8, l2 = .1, t1 = 1.6, t2 = 6;
    const double a = l1 / d, b = l2 * m;  // rates of the two exponentials
    const auto late = [&](double t) {     // P(a worker has not answered t after the least time)
        if (std::abs(a - b) < 1e-12) return (1 + a * t) * std::exp(-a * t);
        return (a * std::exp(-b * t) - b * std::exp(-a * t)) / (a - b);
    };
    const int needed = n - (d - m);
    const auto waiting = [&](double t) {  // P(Bin(n, F(t)) < needed)
        const double f = 1 - late(t);
        double sum = 0, choose = 1;
        for (int k = 0; k < needed; ++k) {
            sum += choose * std::pow(f, k) * std::pow(1 - f, n - k);
            choose *= static_cast<double>(n - k) / (k + 1);
        }
        return sum;
    };
    constexpr int steps = 400000;
    constexpr double end = 800;
    const double h = end / steps;
    double sum = waiting(0) + waiting(end);
    for (int i = 1; i < steps; ++i) sum += waiting(i * h) * (i % 2 == 0 ? 2 : 4);
    return d * t1 + t2 / m + sum * h / 3;
}

TEST(ShortCode, ExpectedTimesAreThoseOfTheSourcesModel)
{
    const struct {
        int d, m;
        double time;
    } table[] = {{1, 1, 36.1138}, {2, 1, 29.2288}, {2, 2, 23.1036}, {3, 1, 27.3351},
                 {3, 2, 21.3994}, {3, 3, 22.2604}, {4, 1, 26.7469}, {4, 2, 21.5369},
                 {4, 3, 21.3697}, {4, 4, 24.8036}, {8, 1, 24.1063}, {8, 2, 22.1405},
                 {8, 3, 22.2772}, {8, 4, 23.2611}};
    for (const auto& one : table)
        EXPECT_NEAR(expected_time(8, one.d, one.m), one.time, 1e-4) << one.d << " " << one.m;
    EXPECT_NEAR(expected_time(10, 4, 3), 22.5648, 1e-4);
    EXPECT_NEAR(expected_time(15, 4, 3), 24.7166, 1e-4);
    EXPECT_NEAR(expected_time(20, 3, 3), 26.0799, 1e-4);
    // The best without short messages, and uncoded.
    const std::array<double, 3> whole = {27.2171, 33.4693, 36.3982},
                                uncoded = {38.2250, 42.1176, 44.9127};
    for (std::size_t i = 0; i < 3; ++i) {
        const int n = std::array{10, 15, 20}[i];
        double least = std::numeric_limits<double>::infinity();
        for (int d = 1; d <= n; ++d) least = std::min(least, expected_time(n, d, 1));
        EXPECT_NEAR(least, whole[i], 1e-4) << n;
        EXPECT_NEAR(expected_time(n, 1, 1), uncoded[i], 1e-4) << n;
    }
}

TEST(ShortCyclic, EstimatesAreTheWholeGradientWhereItsLengthIsNoMultiple)
{
    for (const int width : {1, 2, 5, 8, 11})
        for (const auto& [s, m] :
             {std::pair(1, 2), std::pair(2, 3), std::pair(0, 4), std::pair(3, 1)}) {
            const Problem problem{.workers = 7, .rows = 70, .parameters = width};
            const auto scheme =
                make_scheme("short-cyclic", problem,
                            {{"stragglers", std::to_string(s)}, {"fold", std::to_string(m)}});
            LegalRun run(*scheme, 3);
            run.width = static_cast<std::size_t>(width);
            run.gradient = [](int block, const std::vector<double>& w) {
                std::vector<double> g;
                for (std::size_t i = 0; i < w.size(); ++i)
                    g.push_back(static_cast<double>((block * 5 + static_cast<int>(i) * 3) % 11) -
                                4);
                return g;
            };
            run.run(20);
            ASSERT_EQ(run.steps.size(), 20U);
            for (const auto& estimate : run.estimates)
                for (int i = 0; i < width; ++i) {
                    double sum = 0;
                    for (int block = 0; block < 7; ++block) sum += (block * 5 + i * 3) % 11 - 4;
                    EXPECT_NEAR(estimate[static_cast<std::size_t>(i)], sum / 70, 1e-12);
                }
        }
}

TEST(ShortCyclic, RefusesWhatItCannotDo)
{
    const auto refusal = [](const Problem& problem, const Options& options) -> std::string {
        try {
            make_scheme("short-cyclic", problem, options);
        } catch (const BadInput& why) {
            return why.what();
        }
        return "";
    };
    EXPECT_EQ(
        refusal({.workers = 4, .rows = 40}, {{"stragglers", "2"}, {"fold", "3"}}),
        "--fold is 3, but S + M = 5 partitions a worker are more than there are, of 4 workers: use "
        "--fold 2 or fewer");
    const auto sparse = refusal({.workers = 6, .rows = 60, .dense = false}, {});
    EXPECT_NE(sparse.find("the data are sparse"), std::string::npos) << sparse;
}

}  // namespace
}  // namespace quorate
