// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/cached/load_balance.hpp"

#include <gtest/gtest.h>

#include "commands/options.hpp"
#include "commands/simulation.hpp"

namespace quorate {
namespace {

using Parts = std::vector<int>;

// Four workers that take 4, 4, 6 and 8 s for all rows and 10 ms for a message.
std::vector<Balanced> four()
{
    std::vector<Balanced> workers;
    for (const double compute : {4.0, 4.0, 6.0, 8.0})
        workers.push_back({.latency = {compute, 0, 0.01}, .parts = 10});
    return workers;
}

BalanceRules rules(int collect)
{
    const double fresh = collect / 4.0;
    return {.share = 0.25, .fresh = fresh, .least = fresh / 10, .most = 40};
}

TEST(LoadBalance, MakesAllWorkersTakeTheSameTime)
{
    EXPECT_EQ(equal_times(four(), rules(4)), (Parts{8, 8, 12, 16}));
    EXPECT_EQ(equal_times(four(), rules(3)), (Parts{8, 8, 12, 16}));
    auto workers = four();
    const auto parts = equal_times(workers, rules(4));
    for (std::size_t i = 0; i < 4; ++i) {
        workers[i].parts = parts[i];
        EXPECT_NEAR(answer_time(workers[i], 0.25), 0.135, 1e-3);
    }
    EXPECT_NEAR(contribution(workers, rules(4)), 0.1, 2e-3);  // parts are whole numbers
    EXPECT_NEAR(contribution(four(), rules(3)), 0.075, 1e-15);
}

TEST(LoadBalance, AsTheAuthorsDoIt)
{
    EXPECT_EQ(as_authors(four(), rules(4), 4, 0.02, 1), (Parts{8, 8, 12, 16}));
    EXPECT_EQ(as_authors(four(), rules(3), 3, 0.02, 1), (Parts{9, 9, 13, 18}));
}

TEST(LoadBalance, SimulatedRoundsCountWhoIsFresh)
{
    // The slow worker answers tasks of earlier rounds only, and never in time.
    const auto fresh = simulated_fresh(four(), 0.25, 3, 0, 1, 100);
    EXPECT_EQ(fresh[0], 1);
    EXPECT_EQ(fresh[1], 1);
    EXPECT_LT(fresh[3], 0.7);
    for (const double share : simulated_fresh(four(), 0.25, 4, 0, 1, 100)) EXPECT_EQ(share, 1);
}

TEST(LoadBalance, ANewCutBeginsWhereAnOldPartDoes)
{
    const auto all = [](int before, int now) {
        Parts found;
        for (int next = 0; next < before; ++next)
            found.push_back(aligned(24, before, now, next) + 1);
        return found;
    };
    EXPECT_EQ(all(4, 6), (Parts{1, 1, 4, 4}));
    EXPECT_EQ(all(5, 7), (Parts{1, 1, 1, 1, 1}));
    EXPECT_EQ(all(10, 12), (Parts{1, 2, 3, 3, 3, 7, 8, 9, 9, 9}));
}

TEST(LoadBalance, ALatencyIsTheMeanOfTheMiddleOfTheLastTenSeconds)
{
    LatencyWindow window;
    for (int i = 0; i < 9; ++i) window.add(i, 1, 2);
    EXPECT_FALSE(window.latency());
    window.add(9, 100, 2);
    ASSERT_TRUE(window.latency());
    EXPECT_EQ(window.latency()->compute, 1);  // without the largest and the least
    EXPECT_EQ(window.latency()->deviation, 0);
    EXPECT_EQ(window.latency()->rest, 2);
    window.add(15, 1, 2);
    EXPECT_FALSE(window.latency());  // answers of the first seconds are forgotten
}

TEST(LoadBalance, ShortensTheRoundsOfUnevenWorkers)
{
    const auto seconds = [](const char* balance, const char* collect) {
        const Options options = {{"dry", "on"},
                                 {"rows", "4800"},
                                 {"workers", "4"},
                                 {"rounds", "400"},
                                 {"scheme", "dsag"},
                                 {"collect", collect},
                                 {"row-time", "0.000833333333333"},
                                 {"slowdown", "fixed:2,3"},
                                 {"delay", "constant:0.01"},
                                 {"balance", balance}};
        const auto trace = simulate(make_settings(simulation_options(), options));
        const auto& rounds = trace.rounds;
        return (rounds[399].time - rounds[199].time) / 200;
    };
    EXPECT_NEAR(seconds("off", "4"), 0.21, 1e-6);
    // Three workers of speed 1 and one of 1/2: 4 s for all rows, and 8 s.
    const double time = (0.1 + 0.01 * (3 / 4.0 + 1 / 8.0)) / (3 / 4.0 + 1 / 8.0);
    EXPECT_NEAR(seconds("equal", "4"), time, 0.01);
    EXPECT_NEAR(seconds("authors", "4"), time, 0.01);
    EXPECT_LT(seconds("authors", "3"), 0.13);
}

}  // namespace
}  // namespace quorate
