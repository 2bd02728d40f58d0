// SPDX-License-Identifier: BSD-2-Clause
// Where the parameters are cut into shares.
#include <gtest/gtest.h>

#include <numeric>

#include "fleet/shares.hpp"

namespace quorate {
namespace {

using Bounds = std::vector<std::int64_t>;

Bounds cut(const std::vector<Support>& of_hosts, std::int64_t parameters, int shares)
{
    std::vector<const Support*> all;
    for (const auto& one : of_hosts) all.push_back(&one);
    return cut_shares(all, parameters, shares);
}

// The support of so many parameters from `first` on, of 40,000.
Support range(Index first, std::size_t count)
{
    std::vector<Index> chosen(count);
    std::iota(chosen.begin(), chosen.end(), first);
    return Support::of(40000, std::move(chosen));
}

TEST(ParameterShares, OfFullSupportsAreEqualUpToABlock)
{
    EXPECT_EQ(cut({Support::all(40960), Support::all(40960)}, 40960, 2), (Bounds{0, 20480, 40960}));
    EXPECT_EQ(cut({Support::all(40000)}, 40000, 3), (Bounds{0, 12288, 28672, 40000}));
    EXPECT_EQ(cut({Support::all(40000)}, 40000, 1), (Bounds{0, 40000}));
}

TEST(ParameterShares, HaveAsManyNumbersOfHostsAlike)
{
    // The host that holds all has 40,000, of which 10 blocks; the other two 4,096 each, in the
    // first block.
    const std::vector<Support> hosts = {Support::all(40000), range(0, 4096), range(0, 4096)};
    EXPECT_EQ(cut(hosts, 40000, 3), (Bounds{0, 8192, 24576, 40000}));
    EXPECT_EQ(cut({range(30000, 9000)}, 40000, 2), (Bounds{0, 32768, 40000}));
}

TEST(ParameterShares, HaveABlockEachEvenWithoutNumbers)
{
    EXPECT_EQ(cut({range(0, 10)}, 40000, 4), (Bounds{0, 28672, 32768, 36864, 40000}));
    EXPECT_EQ(cut({range(39990, 10)}, 40000, 3), (Bounds{0, 32768, 36864, 40000}));
}

TEST(ParameterShares, AreNoMoreThanBlocks)
{
    EXPECT_EQ(cut({Support::all(10000)}, 10000, 1024), (Bounds{0, 4096, 8192, 10000}));
    EXPECT_EQ(cut({Support::all(3)}, 3, 4), (Bounds{0, 3}));
}

TEST(ParameterShares, HaveTheirNumbersOfASupport)
{
    const Bounds bounds = {0, 4096, 8192, 40000};
    EXPECT_EQ(numbers_of_shares(Support::all(40000), bounds), (Bounds{4096, 4096, 31808}));
    EXPECT_EQ(numbers_of_shares(range(4000, 200), bounds), (Bounds{96, 104, 0}));
}

}  // namespace
}  // namespace quorate
