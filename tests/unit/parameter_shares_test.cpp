// SPDX-License-Identifier: BSD-2-Clause
// Where the parameters are cut into shares, and what the owners of these send each other.
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.hpp"
#include "fleet/shares.hpp"
#include "ranks/host_share.hpp"

namespace quorate {
namespace {

using CutBounds = std::vector<std::int64_t>;

CutBounds cut_for(const std::vector<Support>& of_hosts, std::int64_t parameters, int shares)
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
    EXPECT_EQ(cut_for({Support::all(40960), Support::all(40960)}, 40960, 2),
              (CutBounds{0, 20480, 40960}));
    EXPECT_EQ(cut_for({Support::all(40000)}, 40000, 3), (CutBounds{0, 12288, 28672, 40000}));
    EXPECT_EQ(cut_for({Support::all(40000)}, 40000, 1), (CutBounds{0, 40000}));
}

TEST(ParameterShares, HaveAsManyNumbersOfHostsAlike)
{
    // The host that holds all has 40,000, of which 10 blocks; the other two 4,096 each, in the
    // first block.
    const std::vector<Support> hosts = {Support::all(40000), range(0, 4096), range(0, 4096)};
    EXPECT_EQ(cut_for(hosts, 40000, 3), (CutBounds{0, 8192, 24576, 40000}));
    EXPECT_EQ(cut_for({range(30000, 9000)}, 40000, 2), (CutBounds{0, 32768, 40000}));
}

TEST(ParameterShares, HaveABlockEachEvenWithoutNumbers)
{
    EXPECT_EQ(cut_for({range(0, 10)}, 40000, 4), (CutBounds{0, 28672, 32768, 36864, 40000}));
    EXPECT_EQ(cut_for({range(39990, 10)}, 40000, 3), (CutBounds{0, 32768, 36864, 40000}));
}

TEST(ParameterShares, AreNoMoreThanBlocks)
{
    EXPECT_EQ(cut_for({Support::all(10000)}, 10000, 1024), (CutBounds{0, 4096, 8192, 10000}));
    EXPECT_EQ(cut_for({Support::all(3)}, 3, 4), (CutBounds{0, 3}));
}

TEST(ParameterShares, HaveTheirNumbersOfASupport)
{
    const CutBounds bounds = {0, 4096, 8192, 40000};
    EXPECT_EQ(numbers_of_shares(Support::all(40000), bounds), (CutBounds{4096, 4096, 31808}));
    EXPECT_EQ(numbers_of_shares(range(4000, 200), bounds), (CutBounds{96, 104, 0}));
}

// What owners send each other, on one thread: four hosts have a worker each.
constexpr int share_hosts = 4;

struct SentByOwner {
    int rank;
    transport::Message message;
};

// The owner of a share, and what it has sent.
struct TriedOwner {
    explicit TriedOwner(std::int64_t share)
        : share(
              ownership(share), Wire::binary64, Precision::binary64, share_hosts + 1,
              [](int) { return false; }, pool,
              [this](int rank, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes) {
                  sent.push_back({rank, {std::move(bytes), 0, tag}});
              })
    {
    }

    static Ownership ownership(std::int64_t share)
    {
        Ownership own;
        own.share = share;
        own.shares.bounds = {0};
        constexpr auto size = static_cast<std::int64_t>(sum_block);
        for (int host = 0; host < share_hosts; ++host) {
            own.shares.bounds.push_back(own.shares.bounds.back() + size);
            own.shares.ranks.push_back(host == 0 ? 0 : host + 1);
            own.shares.groups.push_back(host);
            ShareWorker worker;
            worker.info.rank = host + 1;
            worker.info.group = host;
            worker.part = std::make_shared<const Support>(Support::all(size));
            worker.whole = std::make_shared<const Support>(Support::all(size * share_hosts));
            own.workers.push_back(std::move(worker));
        }
        return own;
    }

    // Adds up what the first worker of each host has computed: ones.
    void add_up(double weight)
    {
        std::vector<std::vector<Weighted>> groups;
        for (int host = 0; host < share_hosts; ++host) groups.push_back({{0, weight, host}});
        share.begin_sums(groups, [&](std::size_t) {
            return Values{*share.ownership().workers[0].whole, packed(ConstNumbers(ones)), {}};
        });
    }

    transport::Pool pool;
    std::vector<SentByOwner> sent;
    NumberVector ones = NumberVector(std::vector<double>(sum_block * share_hosts, 1));
    HostShare share;
};

std::vector<int> receivers_of(const std::vector<SentByOwner>& sent)
{
    std::vector<int> ranks;
    for (const auto& one : sent) ranks.push_back(one.rank);
    return ranks;
}

// All owners send at the same time: if each began with the same host, its link would be the only
// one in use.
TEST(HostShare, EachOwnerBeginsWithTheHostBehindItsOwn)
{
    TriedOwner owner(2);
    const auto slice = std::make_shared<NumberVector>(std::vector<double>(sum_block, 2));
    for (Worker worker = 0; worker < share_hosts; ++worker) {
        Dispatch task{};
        task.task = worker;
        task.worker = worker;
        task.inputs = {1};
        owner.share.dispatch(task, {slice});
    }
    EXPECT_TRUE(owner.sent.empty());
    owner.share.send_points();
    EXPECT_EQ(receivers_of(owner.sent), (std::vector{4, 0, 2}));
    owner.sent.clear();
    owner.add_up(1);
    EXPECT_EQ(receivers_of(owner.sent), (std::vector{4, 0, 2}));
}

TEST(HostShare, SumsOfAllHostsAreThoseOfTheShare)
{
    TriedOwner mine(0);
    mine.add_up(1);
    for (std::int64_t other = 1; other < share_hosts; ++other) {
        EXPECT_FALSE(mine.share.has_sums());
        TriedOwner owner(other);
        owner.add_up(1);
        for (auto& one : owner.sent)
            if (one.rank == 0) mine.share.take(one.message);
    }
    ASSERT_TRUE(mine.share.has_sums());
    const auto sums = mine.share.sums();
    ASSERT_EQ(sums.size(), std::size_t{share_hosts});
    for (const auto& sum : sums) EXPECT_EQ(std::get<0>(sum->packed)[17], 1);
}

// A host whose numbers differ decides something else in the end.
TEST(HostShare, OwnersThatAddUpOtherTermsAreNoticed)
{
    TriedOwner mine(0);
    mine.add_up(1);
    for (std::int64_t other = 1; other < share_hosts; ++other) {
        TriedOwner owner(other);
        owner.add_up(other == 2 ? 0.5 : 1);
        for (auto& one : owner.sent)
            if (one.rank == 0) mine.share.take(one.message);
    }
    ASSERT_TRUE(mine.share.has_sums());
    EXPECT_THROW(mine.share.sums(), Failure);
}

}  // namespace
}  // namespace quorate
