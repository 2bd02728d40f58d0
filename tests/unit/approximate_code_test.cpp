// SPDX-License-Identifier: BSD-2-Clause
// Approximate gradient codes: the errors that theory expects of random and of the worst patterns.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <set>

#include "code/assignments.hpp"
#include "code/collect_decoder.hpp"
#include "code/cyclic.hpp"
#include "code/fractional_repetition.hpp"
#include "linear_algebra.hpp"
#include "patterns.hpp"

namespace quorate {
namespace {

using namespace test;

double error(const Encoding& encoding, const Weigh& weigh, const Pattern& received)
{
    const auto decoding = weigh(received);
    return decode_error(encoding, decoding.weights, decoding.scale);
}

// B^T a.
Eigen::VectorXd recovered(const Encoding& encoding, const Decoding& decoding)
{
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(encoding.partitions);
    for (const auto& weight : decoding.weights)
        for (const auto& [j, b] : encoding.rows[static_cast<std::size_t>(weight.worker)]
                                               [static_cast<std::size_t>(weight.part)])
            sum[j] += decoding.scale * weight.value * b;
    return sum;
}

Eigen::MatrixXd dense(const Encoding& encoding)
{
    Eigen::MatrixXd b = Eigen::MatrixXd::Zero(encoding.workers(), encoding.partitions);
    for (int i = 0; i < encoding.workers(); ++i)
        for (const auto& [j, value] : encoding.rows[static_cast<std::size_t>(i)][0])
            b(i, j) = value;
    return b;
}

double choose(double n, double k)
{
    return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1));
}

double mean_error(const Encoding& encoding, const Weigh& weigh, int r, int count = 4000)
{
    double sum = 0;
    for_random_patterns(encoding.workers(), r, count,
                        [&](const Pattern& received) { sum += error(encoding, weigh, received); });
    return sum / count;
}

constexpr int n = 24, d = 3, r = 18;  // of the table of expected errors

Encoding repetition() { return repetition_encoding(repetition_groups(n, d)); }

TEST(ExpectedError, OfOneStepIsTheSameForAllRegularAssignments)
{
    const double expected = static_cast<double>(n * (n - d) * (n - r)) / (r * d * (n - 1));
    for (const auto& encoding : {repetition(), cyclic_windows(n, d), regular_assignment(n, d, 5)})
        EXPECT_NEAR(mean_error(encoding, one_step(encoding), r), expected, 0.03 * expected);
}

TEST(ExpectedError, OfLeastSquaresOnRepetitionCountsMissingGroups)
{
    const auto encoding = repetition();
    const double expected = n * choose(n - r, d) / choose(n, d);
    // The error of a pattern is 0, 3, 6: its mean over 4000 has a deviation of 4 %.
    EXPECT_NEAR(mean_error(encoding, least_squares(encoding), r, 40000), expected, 0.03 * expected);
}

TEST(ExpectedError, OfBernoulliIsAboveAndOfOneStepIsTheFormula)
{
    double plain = 0, optimal = 0;
    constexpr int draws = 200, patterns = 40;
    for (int seed = 0; seed < draws; ++seed) {
        const auto encoding = bernoulli_assignment(n, d, static_cast<std::uint64_t>(seed));
        const auto sum = one_step(encoding), best = least_squares(encoding);
        for_random_patterns(n, r, patterns, [&](const Pattern& received) {
            plain += error(encoding, sum, received);
            optimal += error(encoding, best, received);
        });
    }
    plain /= draws * patterns;
    optimal /= draws * patterns;
    // The formula is of draws with empty rows and columns and of weights k / (r d); ours have none
    // and scale by the degrees drawn, which can only help.
    const double formula = static_cast<double>(n * (n - d)) / (r * d);
    EXPECT_LT(plain, formula);
    EXPECT_GT(plain, 0.7 * formula);
    EXPECT_LT(optimal, plain / 2);
    EXPECT_GT(optimal, 0.5 * n * std::pow(1 - d / static_cast<double>(n), r));
}

TEST(LeastSquares, IsNeverWorseThanOneStepNorIsAnotherAnswer)
{
    const std::vector<Encoding> all = {repetition(),
                                       cyclic_windows(n, d),
                                       regular_assignment(n, d, 1),
                                       bernoulli_assignment(n, d, 1),
                                       block_assignment(n, 8, 0.8, 0.1, 1),
                                       margulis_assignment(5)};
    for (const auto& encoding : all) {
        const auto plain = one_step(encoding), optimal = least_squares(encoding);
        const int workers = encoding.workers();
        std::mt19937 generator(3);
        for (int trial = 0; trial < 20; ++trial) {
            Pattern order(static_cast<std::size_t>(workers));
            std::iota(order.begin(), order.end(), 0);
            std::ranges::shuffle(order, generator);
            double before = std::numeric_limits<double>::infinity();
            for (int received = 1; received <= workers; ++received) {
                Pattern pattern(order.begin(), order.begin() + received);
                std::ranges::sort(pattern);
                const double now = error(encoding, optimal, pattern);
                EXPECT_LE(now, before + 1e-9);
                EXPECT_LE(now, error(encoding, plain, pattern) + 1e-9);
                before = now;
            }
        }
    }
}

TEST(LeastSquares, ShrinksAndItsDebiasedFormDoesNot)
{
    const auto encoding = cyclic_windows(n, d);
    const auto optimal = least_squares(encoding);
    const auto even = debiased(encoding, optimal);
    for_random_patterns(n, r, 200, [&](const Pattern& received) {
        EXPECT_LE(recovered(encoding, optimal(received)).mean(), 1 + 1e-12);
        EXPECT_NEAR(recovered(encoding, even(received)).mean(), 1, 1e-12);
    });
}

TEST(LeastSquares, OfManyWorkersIsThatOfFew)
{
    // Above 400 workers it is iterated instead of factorised.
    const auto encoding = cyclic_windows(402, 3);
    const auto weigh = least_squares(encoding);
    const Eigen::MatrixXd b = dense(encoding);
    for_random_patterns(402, 401, 1, [&](const Pattern& received) {
        const Eigen::MatrixXd rows = b(received, Eigen::all).transpose();
        const Eigen::VectorXd best =
            test::solve_least_squares(rows, Eigen::VectorXd::Ones(encoding.partitions));
        EXPECT_LE((recovered(encoding, weigh(received)) - rows * best).norm(), 1e-9);
    });
}

TEST(BlockDesign, HasTheConstantSolutionAndTheErrorsOfTheFanoPlane)
{
    const auto plane = plane_assignment(2);
    ASSERT_EQ(plane.workers(), 7);
    const auto constant = design_weights(3);
    const auto optimal = least_squares(plane);
    for (int s = 1; s <= 3; ++s)
        for_all_patterns(7, s, [&](const Pattern& missing) {
            const auto received = others(7, missing);
            const double answers = 7 - s;
            const double expected = 7 - answers * 9 / (3 + (answers - 1));
            EXPECT_NEAR(error(plane, constant, received), expected, 1e-12);
            EXPECT_NEAR(error(plane, optimal, received), expected, 1e-12);
        });
    const auto larger = plane_assignment(5);
    for_random_patterns(31, 20, 50, [&](const Pattern& received) {
        EXPECT_NEAR(error(larger, design_weights(6), received),
                    error(larger, least_squares(larger), received), 1e-9);
    });
}

TEST(Block, ItsLimitsAreRepetitionAndBernoulli)
{
    EXPECT_EQ(block_assignment(24, 8, 1, 0, 9).rows, repetition().rows);
    EXPECT_EQ(block_assignment(24, 8, 0.125, 0.125, 9).rows, bernoulli_assignment(24, 3, 9).rows);
}

TEST(Random, AssignmentsLeaveNobodyAndNothingOut)
{
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        for (const auto& encoding :
             {bernoulli_assignment(20, 1, seed), block_assignment(20, 5, 0.3, 0, seed)}) {
            const auto b = dense(encoding);
            EXPECT_GE(b.rowwise().sum().minCoeff(), 1);
            EXPECT_GE(b.colwise().sum().minCoeff(), 1);
        }
        const auto b = dense(regular_assignment(20, 3, seed));
        EXPECT_TRUE((b.rowwise().sum().array() == 3).all());
        EXPECT_TRUE((b.colwise().sum().array() == 3).all());
    }
}

// For every set of s stragglers: |B^T a - 1| <= (l2 / d) sqrt(n s / (n - s)).
void expect_expander_bound(const Encoding& encoding, double degree)
{
    const int workers = encoding.workers();
    const Eigen::VectorXd values = test::singular_values(dense(encoding));
    EXPECT_NEAR(values[0], degree, 1e-9);
    const auto weigh = one_step(encoding);
    for (int s = 1; s <= 6; ++s) {
        const double bound =
            values[1] / degree * std::sqrt(static_cast<double>(workers * s) / (workers - s));
        double worst = 0;
        for_all_patterns(workers, s, [&](const Pattern& missing) {
            worst = std::max(worst, std::sqrt(error(encoding, weigh, others(workers, missing))));
        });
        EXPECT_LE(worst, bound + 1e-9) << s;
        EXPECT_GT(worst, 0.3 * bound) << s;
    }
}

TEST(Expander, EverySetOfStragglersKeepsTheBound)
{
    expect_expander_bound(regular_assignment(16, 3, 2), 3);
    expect_expander_bound(margulis_assignment(4), 8);
}

TEST(Expander, MargulisKeepsItsSpectralGap)
{
    for (const int m : {3, 5, 10, 16}) {
        const auto b = dense(margulis_assignment(m));
        EXPECT_TRUE((b.rowwise().sum().array() == 8).all());
        EXPECT_TRUE((b.colwise().sum().array() == 8).all());
        EXPECT_LE(test::singular_values(b)[1], 5 * std::sqrt(2.0) + 1e-9);
    }
}

TEST(Graph, LinearTimeIsLeastSquares)
{
    for (const int degree : {2, 3, 4}) {
        const auto encoding = graph_assignment(24, degree, 3);
        ASSERT_EQ(encoding.partitions, 48 / degree);
        const auto fast = graph_weights(encoding), slow = least_squares(encoding);
        for (int received = 1; received <= 24; ++received)
            for_random_patterns(24, received, 100, [&](const Pattern& pattern) {
                EXPECT_LE((recovered(encoding, fast(pattern)) - recovered(encoding, slow(pattern)))
                              .lpNorm<Eigen::Infinity>(),
                          1e-12);
            });
    }
}

TEST(Graph, APartitionThatNobodyHeardHoldsCountsNothing)
{
    const auto encoding = graph_assignment(24, 3, 3);
    Pattern received;
    for (int i = 0; i < 24; ++i) {
        const auto& row = encoding.rows[static_cast<std::size_t>(i)][0];
        if (row[0].partition != 0 && row[1].partition != 0) received.push_back(i);
    }
    EXPECT_EQ(recovered(encoding, graph_weights(encoding)(received))[0], 0);
}

TEST(Graph, ItsErrorIsTheProbabilityThatAllHoldersStraggleAsOfRepetition)
{
    // p^d of the partitions are on stragglers only; little is lost beyond.
    const auto encoding = graph_assignment(400, 4, 1);
    const auto weigh = graph_weights(encoding);
    EXPECT_NEAR(mean_error(encoding, weigh, 320, 2000) / encoding.partitions, 1.6e-3, 4e-4);
}

// Gradients of the partitions, of three numbers each.
Eigen::MatrixXd gradients(int k)
{
    std::mt19937 generator(11);
    std::normal_distribution<double> normal(1, 1);
    Eigen::MatrixXd g(k, 3);
    for (auto& value : g.reshaped()) value = normal(generator);
    return g;
}

TEST(Stochastic, IsUnbiasedWithTheVarianceOfItsFormula)
{
    constexpr int workers = 20, degree = 3, draws = 200000;
    constexpr double p = 0.2;
    const auto encoding = stochastic_assignment(workers, degree, 4);
    const auto weigh = plain_sum_of_probability(p);
    const auto g = gradients(workers);
    const Eigen::RowVectorXd exact = g.colwise().sum();
    const Eigen::MatrixXd messages = dense(encoding) * g;
    const double variance = p / (1 - p) * messages.squaredNorm();
    std::mt19937 generator(5);
    std::bernoulli_distribution straggles(p);
    Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(3);
    double square = 0;
    for (int draw = 0; draw < draws; ++draw) {
        Pattern received;
        for (int i = 0; i < workers; ++i)
            if (!straggles(generator)) received.push_back(i);
        const Eigen::RowVectorXd estimate = recovered(encoding, weigh(received)).transpose() * g;
        mean += estimate / draws;
        square += (estimate - exact).squaredNorm() / draws;
    }
    EXPECT_NEAR(square, variance, 0.02 * variance);
    EXPECT_LE((mean - exact).norm(), 4 * std::sqrt(variance / draws));
}

TEST(Stochastic, AnyTwoPartitionsShareDegreeSquaredOverWorkersInTheMean)
{
    constexpr int workers = 20, degree = 4, draws = 400;
    double shared = 0;
    for (std::uint64_t seed = 0; seed < draws; ++seed) {
        const Eigen::MatrixXd b = dense(stochastic_assignment(workers, degree, seed)) * degree;
        const Eigen::MatrixXd both = b.transpose() * b;
        EXPECT_TRUE((both.diagonal().array() == degree).all());
        shared += (both.sum() - both.trace()) / (workers * (workers - 1));
    }
    const double expected = degree * degree / static_cast<double>(workers);
    EXPECT_NEAR(shared / draws, expected, 0.02 * expected);
}

// The largest set of disjoint windows, by trying all.
std::size_t largest_disjoint(const Pattern& received, int workers, int c)
{
    std::size_t best = 0;
    for (unsigned set = 0; set < 1u << received.size(); ++set) {
        std::vector<bool> taken(static_cast<std::size_t>(workers));
        std::size_t size = 0;
        bool disjoint = true;
        for (std::size_t i = 0; i < received.size(); ++i) {
            if (!(set >> i & 1)) continue;
            ++size;
            for (int t = 0; t < c; ++t) {
                const auto at = static_cast<std::size_t>((received[i] + t) % workers);
                disjoint = disjoint && !taken[at];
                taken[at] = true;
            }
        }
        if (disjoint) best = std::max(best, size);
    }
    return best;
}

TEST(IsGc, ChoosesALargestSetOfDisjointWindowsAndKeepsItsGuarantee)
{
    for (int workers = 3; workers <= 12; ++workers)
        for (int c = 2; c <= std::min(4, workers); ++c) {
            const auto encoding = cyclic_windows(workers, c);
            const auto weigh = disjoint_windows(workers, c);
            for (int received = 1; received <= workers; ++received)
                for_random_patterns(workers, received, 12, [&](const Pattern& pattern) {
                    const auto decoding = weigh(pattern);
                    const Eigen::VectorXd got = recovered(encoding, decoding) / decoding.scale;
                    EXPECT_LE(got.maxCoeff(), 1) << "two windows overlap";
                    const auto chosen = decoding.weights.size();
                    EXPECT_EQ(chosen, largest_disjoint(pattern, workers, c));
                    EXPECT_GE(chosen,
                              static_cast<std::size_t>((received + 2 * c - 2) / (2 * c - 1)));
                    EXPECT_NEAR(decoding.scale * static_cast<double>(chosen) * c, workers, 1e-9);
                });
        }
}

TEST(IsGc, IsExactWhenAClassOfWorkersIsComplete)
{
    const auto encoding = cyclic_windows(12, 3);
    const auto weigh = disjoint_windows(12, 3);
    EXPECT_EQ(error(encoding, weigh, {1, 2, 4, 7, 8, 10}), 0);
    Pattern all(12);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(error(encoding, weigh, all), 0);
    EXPECT_GT(error(encoding, weigh, {1, 2, 4, 7, 8}), 0);
}

TEST(Ignore, TheMeanOverAllSubsetsIsTheGradientAndTheVarianceTheFormula)
{
    constexpr int workers = 10;
    const auto encoding = cyclic_windows(workers, 1);
    const auto weigh = plain_sum(workers);
    const auto g = gradients(workers);
    const Eigen::RowVectorXd exact = g.colwise().sum();
    for (int received = 1; received <= workers; ++received) {
        Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(3);
        double square = 0, count = 0;
        for_all_patterns(workers, received, [&](const Pattern& pattern) {
            const Eigen::RowVectorXd estimate = recovered(encoding, weigh(pattern)).transpose() * g;
            mean += estimate;
            square += ((estimate - exact) / workers).squaredNorm();
            ++count;
        });
        EXPECT_LE((mean / count - exact).norm(), 1e-12 * exact.norm());
        const double spread = (g.rowwise() - exact / workers).squaredNorm();
        const double formula =
            (1 - received / static_cast<double>(workers)) / (received * (workers - 1.0)) * spread;
        EXPECT_NEAR(square / count, formula, 1e-10) << received;
    }
}

TEST(Ignore, HorvitzThompsonWeighsThoseWhoAreOftenLateMore)
{
    // Worker 0 answers in every fourth round only, the others alternate.
    constexpr int workers = 4, collect = 2;
    const auto weigh = horvitz_thompson(workers, collect, 0.05);
    const std::vector<Pattern> rounds = {{1, 2}, {2, 3}, {1, 3}, {0, 1},
                                         {2, 3}, {1, 2}, {1, 3}, {0, 2}};
    Decoding last;
    for (int round = 0; round < 4000; ++round)
        last = weigh(rounds[static_cast<std::size_t>(round) % rounds.size()]);
    ASSERT_EQ(last.weights[0].worker, 0);
    EXPECT_NEAR(last.weights[0].value * last.scale, 4, 0.1);
    EXPECT_NEAR(last.weights[1].value * last.scale, 8 / 5.0, 0.1);
}

}  // namespace
}  // namespace quorate
