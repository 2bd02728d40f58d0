// SPDX-License-Identifier: BSD-2-Clause
// Where the parameters are cut into shares, and what the owners of these send each other.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "base/error.hpp"
#include "fleet/shares.hpp"
#include "ranks/host_share.hpp"
#include "ranks/owner_fleet.hpp"
#include "ranks/whole_vectors.hpp"
#include "support.hpp"

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

    // The slice of a point, of equal numbers.
    std::shared_ptr<NumberVector> point(double number)
    {
        auto slice =
            std::make_shared<NumberVector>(sum_block, Precision::binary64, share.point_memory());
        std::ranges::fill(std::span<double>(*slice), number);
        return slice;
    }
    // Gives each worker a task at a point.
    void give_out(Version version, const Point& slice)
    {
        for (Worker worker = 0; worker < share_hosts; ++worker) {
            Dispatch task{};
            task.task = worker;
            task.worker = worker;
            task.inputs = {version};
            share.dispatch(task, {slice});
        }
    }
    // Takes what another owner has sent to the one of rank 0.
    void take_from(TriedOwner& other)
    {
        for (auto& one : other.sent)
            if (one.rank == 0) share.take(one.message);
        other.sent.clear();
    }
    // The points that were handed out, as the workers of this host read them.
    std::vector<std::vector<double>> handed_out()
    {
        std::vector<std::vector<double>> points;
        for (const auto& one : sent) {
            if (one.message.tag != transport::Tag::delivery) continue;
            const auto told = MessageReader(*one.message.bytes).get<Delivered>();
            BorrowedBlocks reader(told.points, share_hosts + 1, one.rank);
            const auto size = sum_block * share_hosts;
            const auto whole = reader.borrow(told.block, size);
            points.emplace_back(whole.get(), whole.get() + size);
        }
        sent.clear();
        return points;
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
    owner.give_out(1, owner.point(2));
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

using Doubles = std::vector<double>;

Doubles four_slices(double a, double b, double c, double d)
{
    Doubles all;
    for (const double one : {a, b, c, d}) all.insert(all.end(), sum_block, one);
    return all;
}

// The engine writes its slice where workers read it, and those of others may come before it does.
TEST(HostShare, PointsAreWholeInTheMemoryOfTheOwnersSlice)
{
    TriedOwner mine(0), one(1), two(2), three(3);
    if (!mine.share.point_memory()) GTEST_SKIP() << "this system gives no memory to share";
    const auto& memory = *mine.share.point_memory();
    one.give_out(5, one.point(11));
    one.share.send_points();
    mine.take_from(one);
    auto slice = mine.point(10);
    const auto* address = slice->address();
    EXPECT_FALSE(memory.is_read(address));
    mine.give_out(5, slice);
    two.give_out(5, two.point(12));
    two.share.send_points();
    mine.take_from(two);
    EXPECT_TRUE(mine.handed_out().empty());
    EXPECT_TRUE(memory.is_read(address)) << "a slice is still to be written beside it";
    three.give_out(5, three.point(13));
    three.share.send_points();
    mine.take_from(three);
    EXPECT_TRUE(memory.is_read(address)) << "a worker has it";
    const auto points = mine.handed_out();
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0], four_slices(10, 11, 12, 13));
    EXPECT_FALSE(memory.is_read(address));
    mine.share.send_points();
    slice.reset();
    EXPECT_EQ(mine.point(20)->address(), address);
}

// Workers that are gone need no point, but its slices come, and must not hit another one.
TEST(HostShare, MemoryOfAPointIsInUseUntilAllItsSlicesHaveCome)
{
    TriedOwner mine(0), one(1), two(2), three(3);
    if (!mine.share.point_memory()) GTEST_SKIP() << "this system gives no memory to share";
    const auto& memory = *mine.share.point_memory();
    const auto slice = mine.point(10);
    mine.give_out(5, slice);
    for (Worker worker = 0; worker < share_hosts; ++worker) mine.share.forget(worker);
    for (auto* other : {&one, &two, &three}) {
        EXPECT_TRUE(memory.is_read(slice->address()));
        other->give_out(5, other->point(1));
        other->share.send_points();
        mine.take_from(*other);
    }
    EXPECT_FALSE(memory.is_read(slice->address()));
    EXPECT_TRUE(mine.handed_out().empty());
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

// --- vectors that become whole where they are written
// ----------------------------------------------------------------

// The coordinator of four owners, which writes vectors: what it has asked for, and written.
struct Joining {
    explicit Joining(std::size_t bytes_waiting) : waiting(bytes_waiting) {}

    void add(std::int64_t round, double own)
    {
        const auto slice = std::make_shared<const NumberVector>(Doubles(sum_block, own));
        whole.add({SliceName::kept, round, 0}, *slice, slice, true,
                  [this, round](const VectorPiece& piece) {
                      EXPECT_EQ(piece.first, written[round].size());
                      const auto numbers = piece.numbers.doubles();
                      written[round].insert(written[round].end(), numbers.begin(), numbers.end());
                      if (piece.last()) ended.push_back(round);
                  });
        whole.go_on();
    }
    // An owner sends so many numbers.
    void come(const SliceName& name, std::size_t share, double number, std::size_t size = sum_block)
    {
        whole.take(make_message(pool, [&](MessageWriter& out) {
            out.put(SliceHead{name, static_cast<std::int64_t>(share), 0,
                              static_cast<std::int64_t>(size)});
            out.numbers<double>(size, [&](double* at) { std::fill_n(at, size, number); });
        }));
        whole.go_on();
    }

    struct Asked {
        std::size_t share;
        SliceName name;
        bool operator==(const Asked&) const = default;
    };
    transport::Pool pool;
    Shares shares = TriedOwner::ownership(0).shares;
    std::size_t waiting;
    std::vector<Asked> asked;
    std::map<std::int64_t, Doubles> written;
    std::vector<std::int64_t> ended;
    WholeVectors whole = {shares,
                          [this](std::size_t bytes) {
                              return waiting == 0 || waiting + bytes <= trace::iterates_in_memory;
                          },
                          [this](std::size_t share, const SliceName& name) {
                              asked.push_back({share, name});
                          }};
};

constexpr SliceName kept_of(std::int64_t round) { return {SliceName::kept, round, 0}; }

// What waits to be written leaves room for one slice: so the coordinator has one at a time.
TEST(WholeVectors, AreNeverInMemory)
{
    Joining joining(trace::iterates_in_memory - sum_block * sizeof(double));
    joining.add(1, 10);
    joining.add(2, 20);
    for (std::int64_t round : {1, 2})
        for (std::size_t share = 1; share < share_hosts; ++share) {
            ASSERT_EQ(joining.asked.size(), 1U) << "a slice is asked for before one has come";
            const auto [to, name] = joining.asked[0];
            EXPECT_EQ(to, share);
            EXPECT_EQ(name, kept_of(round));
            joining.asked.clear();
            joining.come(name, to, static_cast<double>(10 * round) + static_cast<double>(share));
        }
    EXPECT_TRUE(joining.asked.empty());
    EXPECT_TRUE(joining.whole.is_done());
    EXPECT_EQ(joining.written[1], four_slices(10, 11, 12, 13));
    EXPECT_EQ(joining.written[2], four_slices(20, 21, 22, 23));
}

TEST(WholeVectors, AreNotAskedForWhileTooMuchWaitsToBeWritten)
{
    Joining joining(trace::iterates_in_memory);
    joining.add(1, 10);
    EXPECT_TRUE(joining.asked.empty());
    EXPECT_TRUE(joining.written.empty());
    EXPECT_EQ(joining.whole.kept(), 1);
    EXPECT_EQ(joining.whole.bytes_of_kept(), sum_block * sizeof(double));
    joining.waiting = 0;
    joining.whole.go_on();
    EXPECT_EQ(joining.asked.size(), 3U);
    EXPECT_EQ(joining.whole.bytes_of_kept(), 0U);
}

// Small ones are asked for ahead, and owners answer when they can.
TEST(WholeVectors, AreWrittenInOrderHoweverTheirSlicesCome)
{
    Joining joining(0);
    joining.add(1, 10);
    joining.add(2, 20);
    EXPECT_EQ(joining.asked.size(), 6U);
    joining.come(kept_of(2), 1, 21);
    joining.come(kept_of(2), 3, 23);
    joining.come(kept_of(1), 3, 13);
    joining.come(kept_of(1), 2, 12);
    joining.come(kept_of(2), 2, 22);
    EXPECT_TRUE(joining.ended.empty());
    joining.come(kept_of(1), 1, 11);
    EXPECT_EQ(joining.ended, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(joining.written[2], four_slices(20, 21, 22, 23));
}

TEST(WholeVectors, OfOtherSizesAreRefusedAndThoseGivenUpDropped)
{
    Joining joining(0);
    joining.add(1, 10);
    EXPECT_THROW(joining.come(kept_of(1), 1, 11, 17), Failure);
    joining.whole.clear();
    EXPECT_TRUE(joining.whole.is_done());
    joining.come(kept_of(1), 1, 11);
    joining.add(2, 20);
    EXPECT_EQ(joining.written.size(), 2U);
}

// An owner and its rank's thread, in one.
struct Holding {
    // The slices that it has sent, and of which vector.
    std::vector<SliceName> sent()
    {
        std::vector<SliceName> names;
        relay.pass_on([&](int, transport::Tag tag, const std::shared_ptr<transport::Bytes>& bytes) {
            if (tag == transport::Tag::slice)
                names.push_back(MessageReader(*bytes).get<SliceHead>().name);
        });
        return names;
    }
    void want(const SliceName& name)
    {
        relay.deliver({encode_values(pool, name), 0, transport::Tag::slice_wanted});
    }

    transport::Pool pool;
    transport::Relay relay = transport::Relay([] {});
    OwnerFleet fleet =
        OwnerFleet(relay, TriedOwner::ownership(1), Wire::binary64, Precision::binary64, 5);
};

TEST(OwnerFleet, HoldsItsSlicesUntilTheyAreAskedFor)
{
    Holding owner;
    const auto slice = std::make_shared<const NumberVector>(Doubles(sum_block, 1));
    owner.fleet.hold_kept(1, slice);
    owner.fleet.hold_kept(2, slice);
    EXPECT_EQ(slice.use_count(), 3);
    EXPECT_TRUE(owner.sent().empty());
    owner.want(kept_of(2));
    owner.want(kept_of(1));
    owner.fleet.hand_over();
    EXPECT_EQ(owner.sent(), (std::vector{kept_of(2), kept_of(1)}));
    EXPECT_EQ(slice.use_count(), 1);
}

TEST(OwnerFleet, ThatLacksASliceSaysSo)
{
    Holding owner;
    const auto slice = std::make_shared<const NumberVector>(Doubles(sum_block, 1));
    owner.fleet.hold_kept(1, slice);
    owner.want(kept_of(2));
    EXPECT_THROW(owner.fleet.hand_over(), Failure);
}

// Events are handed on by other owners, so the first one may come before what the coordinator sends
// itself.
TEST(OwnerFleet, BeginsWhenItKnowsWhetherTheRunGoesOn)
{
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}}) {
        Holding owner;
        std::atomic<bool> has_begun = false;
        std::shared_ptr<transport::Bytes> past;
        std::thread engine([&] {
            past = owner.fleet.begin();
            has_begun = true;
        });
        owner.relay.deliver(
            {encode({.kind = EngineEvent::Kind::begin}, owner.pool), 0, transport::Tag::event});
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        EXPECT_FALSE(has_begun);
        owner.relay.deliver({owner.pool.take(bytes), 0, transport::Tag::past});
        engine.join();
        EXPECT_EQ(past != nullptr, bytes > 0);
    }
}

}  // namespace
}  // namespace quorate
