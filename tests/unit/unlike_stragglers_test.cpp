// SPDX-License-Identifier: BSD-2-Clause
// Coefficients for workers that straggle with unlike probabilities: what the formulas promise.
#include "code/unlike_stragglers.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "code/assignments.hpp"
#include "simulation.hpp"

namespace quorate {
namespace {

Straggling drawn_probabilities(int workers, std::mt19937& random)
{
    std::uniform_real_distribution<double> between(0.02, 0.9);
    Straggling all(static_cast<std::size_t>(workers));
    for (auto& p : all) p = between(random);
    return all;
}

struct Moments {
    std::vector<double> mean;  // of B^T a, by partition
    double error = 0;          // E ||B^T a - 1||^2
};

// Over all sets of workers that answer.
Moments enumerated(const Encoding& encoding, const Straggling& straggling)
{
    Moments all{std::vector<double>(static_cast<std::size_t>(encoding.partitions))};
    for (unsigned set = 0; set < 1u << straggling.size(); ++set) {
        double probability = 1;
        std::vector<double> sum(all.mean.size());
        for (std::size_t i = 0; i < straggling.size(); ++i) {
            const bool answers = set >> i & 1;
            probability *= answers ? 1 - straggling[i] : straggling[i];
            if (!answers) continue;
            for (const auto& [j, value] : encoding.rows[i][0])
                sum[static_cast<std::size_t>(j)] += value;
        }
        for (std::size_t j = 0; j < sum.size(); ++j) {
            all.mean[j] += probability * sum[j];
            all.error += probability * (sum[j] - 1) * (sum[j] - 1);
        }
    }
    return all;
}

std::vector<Encoding> assignments(int workers, int degree, const Straggling& p, std::uint64_t seed)
{
    return {stochastic_assignment(workers, degree, seed), reliable_assignment(degree, p, seed)};
}

TEST(UnlikeStragglers, AreUnbiasedWithTheErrorOfTheFormula)
{
    std::mt19937 random(1);
    for (int workers = 2; workers <= 10; ++workers)
        for (int degree = 1; degree <= std::min(workers, 4); ++degree) {
            const auto p = drawn_probabilities(workers, random);
            for (auto encoding : assignments(workers, degree, p, 3)) {
                weigh_by_straggling(encoding, p);
                const auto found = enumerated(encoding, p);
                for (const double mean : found.mean) EXPECT_NEAR(mean, 1, 1e-12);
                EXPECT_NEAR(found.error, expected_error(encoding, p), 1e-12 * found.error);
            }
        }
}

TEST(UnlikeStragglers, HaveTheLeastErrorOfAllUnbiasedSums)
{
    std::mt19937 random(2);
    const auto p = drawn_probabilities(8, random);
    auto encoding = stochastic_assignment(8, 3, 1);
    weigh_by_straggling(encoding, p);
    const double least = enumerated(encoding, p).error;
    // One holder of a partition sends more of it and another less, so that the mean stays.
    for (int j = 0; j < 8; ++j) {
        std::vector<std::pair<std::size_t, double*>> holders;
        for (std::size_t i = 0; i < 8; ++i)
            for (auto& [partition, value] : encoding.rows[i][0])
                if (partition == j) holders.emplace_back(i, &value);
        ASSERT_EQ(holders.size(), 3);
        for (const double change : {-0.1, 0.1}) {
            const auto [first, more] = holders[0];
            const auto [second, less] = holders[1];
            const double before = *more, after = *less;
            *more += change / (1 - p[first]);
            *less -= change / (1 - p[second]);
            const auto found = enumerated(encoding, p);
            EXPECT_NEAR(found.mean[static_cast<std::size_t>(j)], 1, 1e-12);
            EXPECT_GT(found.error, least);
            *more = before;
            *less = after;
        }
    }
}

TEST(UnlikeStragglers, WhoNeverStraggleShareTheirPartitions)
{
    Encoding encoding{2, {{{{0, 1}}}, {{{0, 1}, {1, 1}}}, {{{0, 1}, {1, 1}}}}};
    weigh_by_straggling(encoding, {0, 0, 0.5});
    EXPECT_EQ(encoding.rows[0][0], (Row{{0, 0.5}}));
    EXPECT_EQ(encoding.rows[1][0], (Row{{0, 0.5}, {1, 1}}));
    EXPECT_EQ(encoding.rows[2][0], (Row{{0, 0}, {1, 0}}));
    EXPECT_EQ(expected_error(encoding, {0, 0, 0.5}), 0);
}

TEST(UnlikeStragglers, GetAsMuchAsTheyAreReliable)
{
    std::mt19937 random(4);
    double equal = 0, reliable = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto p = drawn_probabilities(12, random);
        const auto all = assignments(12, 3, p, seed);
        std::vector<int> copies(12);
        std::size_t held = 0;
        for (std::size_t i = 0; i < 12; ++i) {
            const auto& row = all[1].rows[i][0];
            held += row.size();
            EXPECT_LE(row.size(), 12u);
            EXPECT_TRUE(std::ranges::is_sorted(row));
            for (const auto& coefficient : row)
                ++copies[static_cast<std::size_t>(coefficient.partition)];
            for (std::size_t l = 0; l < 12; ++l)
                EXPECT_TRUE(p[i] >= p[l] || row.size() >= all[1].rows[l][0].size());
        }
        EXPECT_EQ(held, 36u);
        EXPECT_GE(*std::ranges::min_element(copies), 1);
        equal += expected_error(all[0], p);
        reliable += expected_error(all[1], p);
    }
    EXPECT_LT(reliable, equal / 2);
}

TEST(UnlikeStragglers, AreLearnedFromWhoAnswered)
{
    LearnedStraggling learned(3);
    EXPECT_EQ(learned.probabilities(), (Straggling{0.5, 0.5, 0.5}));
    for (int round = 0; round < 6; ++round)
        learned.round(round % 2 ? std::vector{0} : std::vector{0, 2});
    EXPECT_EQ(learned.probabilities(), (Straggling{1 - 7.0 / 8, 1 - 1.0 / 8, 1 - 4.0 / 8}));
}

}  // namespace
}  // namespace quorate
