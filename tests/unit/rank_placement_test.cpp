// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/rank_placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace quorate {
namespace {

using Hosts = std::vector<std::string>;

// Hosts of the workers, in their order.
Hosts hosts_of_workers(const Hosts& hosts)
{
    Hosts by_worker;
    auto ranks = place_ranks(hosts);
    for (const int rank : ranks) by_worker.push_back(hosts.at(static_cast<std::size_t>(rank - 1)));
    std::ranges::sort(ranks);
    for (std::size_t i = 0; i < ranks.size(); ++i)
        EXPECT_EQ(ranks[i], static_cast<int>(i) + 1) << "each rank is one worker";
    return by_worker;
}

TEST(RankPlacement, OnOneHostTheOrderIsThatOfTheRanks)
{
    EXPECT_EQ(place_ranks({"a", "a", "a", "a"}), (std::vector<int>{1, 2, 3, 4}));
    EXPECT_EQ(place_ranks({}), std::vector<int>());
}

TEST(RankPlacement, HostsOfEqualSizeTakeTurnsWhateverTheLaunchersOrder)
{
    EXPECT_EQ(hosts_of_workers({"a", "a", "b", "b", "c", "c"}),
              (Hosts{"a", "b", "c", "a", "b", "c"}));
    EXPECT_EQ(hosts_of_workers({"b", "a", "b", "a"}), (Hosts{"b", "a", "b", "a"}));
}

TEST(RankPlacement, NeighboursShareAHostOnlyIfItHasMoreThanHalf)
{
    const auto neighbours = [](const Hosts& hosts) {
        const auto order = hosts_of_workers(hosts);
        int count = 0;
        for (std::size_t i = 1; i < order.size(); ++i) count += order[i - 1] == order[i];
        return count;
    };
    Hosts hosts;
    for (const auto& [name, ranks] : {std::pair{"a", 10}, {"b", 7}, {"c", 4}, {"d", 3}})
        hosts.insert(hosts.end(), static_cast<std::size_t>(ranks), name);
    EXPECT_EQ(neighbours(hosts), 0);
    EXPECT_EQ(neighbours({"a", "a", "a", "b"}), 1);
}

// A run of six workers on three hosts, each with two of them.
std::vector<int> go_on_in_groups(const Hosts& hosts)
{
    const std::vector<int> groups = {0, 1, 2, 0, 1, 2};
    auto ranks = place_groups(hosts, "a", groups, {"a", "b", "c"}, {0, 1, 2, 3});
    EXPECT_TRUE(groups_are_together(ranks, groups, hosts, "a"));
    return ranks;
}

TEST(RankPlacement, GroupsStayWithTheirHosts)
{
    EXPECT_EQ(go_on_in_groups({"a", "a", "c", "c"}), (std::vector<int>{1, -1, 3, 2, -1, 4}));
}

TEST(RankPlacement, OtherHostsTakeGroupsOver)
{
    EXPECT_EQ(go_on_in_groups({"a", "a", "d", "d"}), (std::vector<int>{1, 3, -1, 2, 4, -1}));
}

TEST(RankPlacement, HostsWithMoreRanksTakeMoreGroupsButTheCoordinatorsGetsNewWorkers)
{
    EXPECT_EQ(go_on_in_groups({"a", "a", "b", "b", "b"}), (std::vector<int>{1, 3, 5, 2, 4, -1}));
    EXPECT_EQ(go_on_in_groups({"a", "a", "a", "b"}), (std::vector<int>{1, 4, -1, 2, -1, -1, 3}));
}

TEST(RankPlacement, GroupsOnTwoHostsAreNotTogether)
{
    EXPECT_FALSE(groups_are_together({1, 2}, {0, 0}, {"a", "b"}, "a"));
    EXPECT_FALSE(groups_are_together({1, 2}, {0, 1}, {"a", "a"}, "a"));
    EXPECT_TRUE(groups_are_together({1, 2}, {0, 1}, {"b", "b"}, "a"));
    EXPECT_TRUE(groups_are_together({1, -1}, {0, 0}, {"b"}, "a"));
}

}  // namespace
}  // namespace quorate
