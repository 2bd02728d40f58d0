// SPDX-License-Identifier: BSD-2-Clause
// Links that messages share by max-min fairness: when they leave, by hand.
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "fleet/links.hpp"

namespace quorate {
namespace {

using Left = std::vector<std::pair<std::size_t, Seconds>>;

// All that leaves, and when.
Left all_of(Links& links)
{
    Left all;
    for (auto now = links.next(); now != never; now = links.next())
        for (const auto message : links.leave(now)) all.emplace_back(message, now);
    return all;
}

void expect_left(Links& links, const Left& expected)
{
    const auto all = all_of(links);
    ASSERT_EQ(all.size(), expected.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].first, expected[i].first);
        EXPECT_NEAR(all[i].second, expected[i].second, 1e-12) << i;
    }
}

// Ranks 0 and 4 are on host 0, each other one on a host of its own; 100 bytes a second.
Links four_hosts(std::vector<double> rates = {100, 100, 100, 100})
{
    return {{0, 1, 2, 3, 0}, std::move(rates)};
}

TEST(Links, AMessageAloneHasAWholeLink)
{
    auto links = four_hosts();
    EXPECT_EQ(links.next(), never);
    links.send(0, 1, 50, 7, 2);
    EXPECT_EQ(links.next(), 2.5);
    EXPECT_TRUE(links.leave(2.25).empty());
    expect_left(links, {{7, 2.5}});
}

TEST(Links, TwoFlowsOutOfAHostShareItsLinkAndAnEndedOneFreesIt)
{
    auto links = four_hosts();
    links.send(0, 1, 100, 1, 0);
    links.send(4, 2, 200, 2, 0);
    // Both have 50 a second until 2; then the second one has 100 for the 100 bytes that are left.
    expect_left(links, {{1, 2}, {2, 3}});
}

TEST(Links, WaysInAndOutDoNotLimitEachOther)
{
    auto links = four_hosts();
    links.send(0, 1, 100, 1, 0);
    links.send(1, 0, 100, 2, 0);
    expect_left(links, {{1, 1}, {2, 1}});
}

TEST(Links, AFlowThatComesLaterTakesItsShare)
{
    auto links = four_hosts();
    links.send(0, 1, 100, 1, 0);
    EXPECT_EQ(links.next(), 1);
    links.send(0, 2, 100, 2, 0.5);
    // The first one has 50 bytes left, at 50 a second; the second one 50 bytes left then.
    expect_left(links, {{1, 1.5}, {2, 2}});
}

TEST(Links, RatesAreMaxMinFair)
{
    auto links = four_hosts({100, 130, 40, 100});
    links.send(4, 2, 100, 1, 0);  // 20, which is half of the way into host 2
    links.send(0, 2, 100, 2, 0);  // 20
    links.send(0, 1, 350, 3, 0);  // 60, which these leave of the way out of host 0
    links.send(3, 1, 480, 4, 0);  // 70, which that leaves of the way into host 1
    // From 5 on, flow 3 has 50 bytes left and flow 4 has 130; both have 65. At last flow 4 has 80
    // left, and 100.
    expect_left(links, {{1, 5}, {2, 5}, {3, 5 + 50 / 65.0}, {4, 5 + 50 / 65.0 + 0.8}});
}

TEST(Links, ASlowLinkLimitsOnlyItsOwnFlows)
{
    auto links = four_hosts({100, 100, 10, 100});
    links.send(0, 1, 90, 1, 0);
    links.send(0, 2, 10, 2, 0);
    expect_left(links, {{1, 1}, {2, 1}});
}

TEST(Links, MessagesBetweenTheSameRanksPassOneAfterTheOther)
{
    auto links = four_hosts();
    links.send(0, 1, 100, 1, 0);
    links.send(0, 1, 50, 2, 0);
    links.send(0, 1, 50, 3, 0);
    links.send(4, 1, 100, 4, 0);  // of other ranks, though of the same hosts
    expect_left(links, {{1, 2}, {4, 2}, {2, 2.5}, {3, 3}});
}

TEST(Links, AnInfiniteLinkNeverLimits)
{
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    auto links = four_hosts({infinity, 100, 100, infinity});
    links.send(0, 1, 100, 1, 1);
    links.send(0, 2, 200, 2, 1);
    links.send(0, 3, 1000, 3, 1);
    expect_left(links, {{3, 1}, {1, 2}, {2, 3}});
}

TEST(Links, PassAllBytesOfManyMessages)
{
    // Each of 20 hosts sends as much to each other one: all links are busy all the time.
    constexpr int hosts = 20;
    std::vector<int> ranks(hosts);
    for (int i = 0; i < hosts; ++i) ranks[static_cast<std::size_t>(i)] = i;
    Links links(ranks, std::vector<double>(hosts, 100));
    for (int from = 0; from < hosts; ++from)
        for (int to = 0; to < hosts; ++to)
            if (from != to) links.send(from, to, 100, 0, 0);
    const auto all = all_of(links);
    EXPECT_EQ(all.size(), static_cast<std::size_t>(hosts * (hosts - 1)));
    EXPECT_NEAR(all.back().second, hosts - 1, 1e-9);
}

}  // namespace
}  // namespace quorate
