// SPDX-License-Identifier: BSD-2-Clause
// Rivals of codes: random batches that are collected like coupons, clones of late tasks.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "code/fractional_repetition.hpp"
#include "simulation.hpp"

namespace quorate {
namespace {

using test::Simulation;

TEST(RandomGroups, LeaveNobodyOutAndFollowFromTheSeed)
{
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto groups = random_groups(12, 4, seed);
        ASSERT_TRUE(groups);
        EXPECT_EQ(groups->of, random_groups(12, 4, seed)->of);
        std::vector<int> members(4);
        for (const int group : groups->of) ++members[static_cast<std::size_t>(group)];
        EXPECT_GE(*std::ranges::min_element(members), 1);
        EXPECT_EQ(repetition_encoding(*groups).partitions, 4);
    }
    EXPECT_FALSE(random_groups(3, 4, 0));
}

TEST(RandomGroups, AreCollectedAfterAsManyAnswersAsCoupons)
{
    // N (1 + 1/2 + ... + 1/N) of N coupons. There are so many workers that few draws are refused.
    constexpr int workers = 120, batches = 10, seeds = 2000;
    double expected = 0, mean = 0, square = 0;
    for (int i = 1; i <= batches; ++i) expected += static_cast<double>(batches) / i;
    std::vector<int> order(workers);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 random(1);
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        auto groups = random_groups(workers, batches, seed);
        ASSERT_TRUE(groups);
        GroupDecoder decoder(std::move(*groups), workers, true);
        std::ranges::shuffle(order, random);
        int answers = 0;
        const Decoding* decoding = nullptr;
        while (!decoding) decoding = decoder.receive(order[static_cast<std::size_t>(answers++)]);
        EXPECT_EQ(decoding->error, 0);
        EXPECT_EQ(decoding->scale, 1);
        EXPECT_TRUE(std::ranges::is_sorted(decoding->weights, {}, &Weight::worker));
        mean += answers / static_cast<double>(seeds);
        square += answers * answers / static_cast<double>(seeds);
    }
    EXPECT_NEAR(mean, expected, 4 * std::sqrt((square - mean * mean) / seeds));
}

// Rounds of four workers, who compute a row in a second each; worker 3 first waits for ten.
std::vector<double> rounds_of_clones(const Options& options)
{
    return Simulation{.scheme = "clones",
                      .options = options,
                      .workers = 4,
                      .rounds = 3,
                      .delay = "fixed:10,3",
                      .row_time = 1}
        .run();
}

TEST(Clones, TakeTheFirstOfTwoCopies)
{
    EXPECT_EQ(rounds_of_clones({{"degree", "2"}, {"after", "3"}}), std::vector<double>(3, 2.0));
    // Nobody else holds the partition.
    EXPECT_EQ(rounds_of_clones({{"degree", "1"}, {"after", "3"}}), std::vector<double>(3, 11.0));
    // It is late only when it has come.
    EXPECT_EQ(rounds_of_clones({{"degree", "2"}, {"after", "4"}}), std::vector<double>(3, 11.0));
}

TEST(Clones, WaitForAHolderWhoIsFree)
{
    // Worker 2, who alone holds the partition of worker 3, answers after 5 s itself.
    const auto seconds = Simulation{.scheme = "clones",
                                    .options = {{"degree", "2"}, {"after", "2"}},
                                    .workers = 4,
                                    .rounds = 1,
                                    .delay = "none",
                                    .slowdown = "fixed:5,2,3",
                                    .row_time = 1}
                             .run();
    ASSERT_EQ(seconds.size(), 1u);
    // Worker 1 copies the partition of 2 at 1 s, at its own speed, and comes first.
    EXPECT_EQ(seconds[0], 5);
}

}  // namespace
}  // namespace quorate
