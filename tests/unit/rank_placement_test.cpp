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

}  // namespace
}  // namespace quorate
