// SPDX-License-Identifier: BSD-2-Clause
// Messages, their buffers, supports and doorbells. No MPI is started.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <deque>
#include <thread>

#include "ranks/messages.hpp"
#include "ranks/node_messages.hpp"
#include "support.hpp"
#include "transport/clock.hpp"
#include "transport/doorbell.hpp"

namespace quorate {
namespace {

using Reals = std::vector<double>;
using Travel = TaskMessage::Travel;

Reals list(std::span<const double> values) { return {values.begin(), values.end()}; }

Point point(std::initializer_list<double> values)
{
    return std::make_shared<NumberVector>(std::vector<double>(values));
}

TEST(Support, GathersAndAddsItsColumnsOnly)
{
    const auto some = Support::of(4, {1, 3});
    Reals packed(2), whole = {1, 1, 1, 1};
    some.gather(Reals{10, 11, 12, 13}, packed.data());
    EXPECT_EQ(packed, (Reals{11, 13}));
    some.add(2, Reals{5, 7}, whole);
    EXPECT_EQ(whole, (Reals{1, 11, 1, 15}));
}

TEST(Support, OfAllColumnsIsAll)
{
    const auto all = Support::all(2);
    EXPECT_EQ(Support::of(2, {0, 1}), all);
    EXPECT_TRUE(Support::of(2, {0, 1}).full());
    EXPECT_FALSE(Support::of(2, {1}).full());
    EXPECT_EQ(all.size(), 2u);
    Reals packed(2), whole = {1, 2};
    all.gather(whole, packed.data());
    all.add(-1, packed, whole);
    EXPECT_EQ(whole, (Reals{0, 0}));
}

// Supports of one length: the numbers of the shards alone tell that the columns are others.
TEST(Messages, ATaskForAnotherShardIsAnError)
{
    transport::Pool pool;
    TaskMessage message;
    message.recipients = {{0, 1}};
    message.shard = 2;
    message.plan.parts = {Part{{Item{0}}}};
    message.inputs = {{0, Travel::packed}};
    const auto bytes = encode(message, std::vector<Point>{point({1, 2, 3, 4})},
                              Support::of(4, {0, 2}), Wire::binary64, pool);
    EXPECT_EQ(
        list(decode_task(bytes, 2, 2, Wire::binary64, Precision::binary64, pool).inputs[0].packed),
        (Reals{1, 3}));
    for (const ShardNumber other : {1, 3})
        EXPECT_THROW(decode_task(bytes, other, 2, Wire::binary64, Precision::binary64, pool),
                     Failure);
}

TEST(Messages, OnlyTheColumnsOfTheSupportTravel)
{
    transport::Pool pool;
    TaskMessage message;
    message.recipients = {{0, 1}};
    message.plan.parts = {Part{{Item{0}}}};
    message.inputs = {{0, Travel::packed}};
    const auto size = [&](const Support& support) {
        return encode(message, std::vector<Point>{point({1, 2, 3, 4})}, support, Wire::binary64,
                      pool)
            ->size();
    };
    EXPECT_EQ(size(Support::all(4)) - size(Support::of(4, {2})), 3 * sizeof(double));
}

TEST(Messages, APointThatTheWorkerHoldsDoesNotTravelAgain)
{
    transport::Pool pool;
    const auto support = Support::all(3);
    TaskMessage message;
    message.recipients = {{0, 1}, {1, 2}};
    message.plan.parts = {Part{{Item{0}}}};
    message.inputs = {{4, Travel::known}, {5, Travel::packed}, {6, Travel::shared, 4096}};
    const auto bytes =
        encode(message, std::vector<Point>{point({1, 1, 1}), point({2, 3, 4}), point({5, 6, 7})},
               support, Wire::binary64, pool);
    const auto got = decode_task(bytes, 0, 3, Wire::binary64, Precision::binary64, pool);
    ASSERT_EQ(got.inputs.size(), 3u);
    EXPECT_EQ(got.inputs[0].travel, Travel::known);
    EXPECT_EQ(got.inputs[0].version, 4);
    EXPECT_EQ(list(got.inputs[1].packed), (Reals{2, 3, 4}));
    EXPECT_EQ(got.inputs[2].travel, Travel::shared);
    EXPECT_EQ(got.inputs[2].block, 4096);
    EXPECT_TRUE(got.inputs[2].packed.empty());
}

TEST(Messages, PartsTravelWithTheCoefficientsOfTheirFolds)
{
    transport::Pool pool;
    TaskMessage message;
    message.recipients = {{0, 1}};
    message.plan.parts = {Part{{Item{0}, Item{2}}, {1, -2, 0.5, 3}}, Part{{Item{1, 0, 4}}}};
    message.inputs = {{4, Travel::known}};
    const std::vector<Point> none = {point({})};
    const auto got = decode_task(encode(message, none, Support::all(3), Wire::binary64, pool), 0, 3,
                                 Wire::binary64, Precision::binary64, pool);
    ASSERT_EQ(got.plan.parts.size(), 2u);
    EXPECT_EQ(got.plan.parts[0].items.size(), 2u);
    EXPECT_EQ(got.plan.parts[0].fold, (Reals{1, -2, 0.5, 3}));
    EXPECT_EQ(got.plan.parts[1].items[0].coefficient, 4);
    EXPECT_TRUE(got.plan.parts[1].fold.empty());
}

// Five numbers take 20 or 10 bytes, and the next ones begin at a multiple of 8.
TEST(Messages, ShorterNumbersAreReadAsTheDoublesThatTheyWere)
{
    transport::Pool pool;
    const auto support = Support::of(7, {0, 1, 2, 4, 6});
    TaskMessage message;
    message.recipients = {{0, 1}};
    message.plan.parts = {Part{{Item{0}}}};
    message.inputs = {{4, Travel::packed}, {5, Travel::known}, {6, Travel::packed}};
    const std::vector<Point> points = {point({1, -2, 3, 9, 0.5, 9, 7}), point({}),
                                       point({2, 4, 6, 9, 8, 9, 10}), point({-1, 1.5, 3})};
    std::vector<std::size_t> sizes;
    for (const auto wire : {Wire::binary64, Wire::binary32, Wire::bfloat16}) {
        auto bytes = encode(message, points, support, wire, pool);
        sizes.push_back(bytes->size());
        const auto got =
            decode_task(std::move(bytes), 0, support.size(), wire, Precision::binary64, pool);
        EXPECT_EQ(list(got.inputs[0].packed), (Reals{1, -2, 3, 0.5, 7}));
        EXPECT_TRUE(got.inputs[1].packed.empty());
        EXPECT_EQ(list(got.inputs[2].packed), (Reals{2, 4, 6, 8, 10}));
        ASSERT_EQ(got.operands.size(), 1U);
        EXPECT_EQ(list(got.operands[0]), (Reals{-1, 1.5, 3}));
    }
    EXPECT_EQ(sizes[0] - sizes[1], 2 * (40 - 24) + (24 - 16));
    EXPECT_EQ(sizes[0] - sizes[2], 2 * (40 - 16) + (24 - 8));
}

TEST(Messages, FloatsAreReadWhereTheyCame)
{
    transport::Pool pool;
    TaskMessage message;
    message.recipients = {{0, 1}};
    message.plan.parts = {Part{{Item{0}}}};
    message.inputs = {{4, Travel::packed}};
    const std::vector<Point> points = {std::make_shared<NumberVector>(std::vector{1.5F, -2.0F})};
    const auto bytes = encode(message, points, Support::all(2), Wire::binary32, pool);
    const auto got = decode_task(bytes, 0, 2, Wire::binary32, Precision::binary32, pool);
    const auto packed = got.inputs[0].packed.of<float>();
    EXPECT_EQ((std::vector<float>(packed.begin(), packed.end())), (std::vector{1.5F, -2.0F}));
    const auto* at = reinterpret_cast<const std::byte*>(packed.data());
    EXPECT_TRUE(bytes->data() <= at && at < bytes->data() + bytes->size()) << "a copy";
}

TEST(Messages, TheReadyMessageCarriesRowsHostAndSupport)
{
    transport::Pool pool;
    for (const auto& support : {Support::all(9), Support::of(9, {0, 4, 8})}) {
        const WorkerInfo info{3, "a-host", 77, 0};
        const auto [shard, got, columns] = decode_ready(*encode({5, info, support}, pool), 9);
        EXPECT_EQ(shard, 5);
        EXPECT_EQ(got.host, "a-host");
        EXPECT_EQ(got.rows, 77);
        EXPECT_EQ(got.columns, static_cast<std::int64_t>(support.size()));
        EXPECT_EQ(columns, support);
    }
}

TEST(Messages, ALengthThatDoesNotFitIsAnError)
{
    transport::Pool pool;
    for (const std::int64_t length :
         {-1L, 2L, 1L << 40, std::numeric_limits<std::int64_t>::max()}) {
        const auto bytes = encode_values(pool, length, 0.5, std::int32_t{1});
        EXPECT_THROW(MessageReader(*bytes).get_list<Reals>(), Failure) << length;
        EXPECT_THROW(decode_lead(*encode_values(pool, std::int64_t{1}, length, 0.5), 3), Failure);
    }
    const auto one = encode_values(pool, std::int64_t{1}, 0.5, std::int32_t{1});
    EXPECT_EQ(MessageReader(*one).get_list<Reals>(), (Reals{0.5}));
    for (const auto count : {std::size_t{3}, std::size_t{1} << 61})
        EXPECT_THROW(MessageReader(*one).doubles(count), Failure) << "also where the bytes wrap";
}

TEST(Messages, PlainValuesComeBackInOrder)
{
    transport::Pool pool;
    const auto bytes = encode_values(pool, std::int64_t{-5}, 0.25, std::int32_t{7});
    MessageReader in(*bytes);
    EXPECT_EQ(in.get<std::int64_t>(), -5);
    EXPECT_EQ(in.get<double>(), 0.25);
    EXPECT_EQ(in.get<std::int32_t>(), 7);
    EXPECT_THROW(in.get<std::int32_t>(), Failure);
}

TEST(Messages, DoublesAreAlignedBehindAnything)
{
    transport::Bytes bytes(1 + 7 + 2 * sizeof(double));
    MessageWriter out(bytes);
    out.put('x');
    out.numbers<double>(2, [](double* values) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values) % alignof(double), 0u);
        values[0] = 1;
        values[1] = 2;
    });
    EXPECT_THROW(out.put('y'), Failure);
    MessageReader in(bytes);
    EXPECT_EQ(in.get<char>(), 'x');
    EXPECT_EQ(list(in.doubles(2)), (Reals{1, 2}));
}

TEST(Pool, GivesABufferBackOnlyWhenItsLastOwnerLetsGo)
{
    transport::Pool pool;
    auto first = pool.take(100);
    const auto* place = first->data();
    auto second_owner = first;
    first.reset();
    EXPECT_NE(pool.take(100)->data(), place);
    second_owner.reset();
    auto small = pool.take(10);
    auto again = pool.take(10);
    EXPECT_TRUE(small->data() == place || again->data() == place);
    EXPECT_EQ(small->size(), 10u);
}

TEST(Pool, ABufferMayOutliveItsPool)
{
    std::shared_ptr<transport::Bytes> bytes;
    {
        transport::Pool pool;
        bytes = pool.take(8);
    }
    EXPECT_EQ(bytes->size(), 8u);
}

TEST(Doorbells, ARingWakesASleeperLongBeforeItsTime)
{
    Doorbells coordinator(0, 2);
    if (!coordinator.present()) GTEST_SKIP() << "this system gives no memory to share";
    Doorbells worker(coordinator.address(), 1, 2);
    ASSERT_TRUE(worker.present());
    const auto received = worker.rings();
    const auto began = clock_seconds();
    std::thread ringer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        coordinator.ring(1);
    });
    worker.wait(received, 30);
    ringer.join();
    EXPECT_LT(clock_seconds() - began, 15);
    EXPECT_EQ(worker.rings(), received + 1);
}

// Where nobody waits for contributions, messages are dropped as they are: while shards load.
TEST(BlocksAtNodes, AreReleasedByWhoeverDropsTheirMessage)
{
    std::vector<KeptBlock> released;
    std::deque<std::shared_ptr<const double>> arrived = {
        owner_of({.worker = 3, .block = 64}, released),
        owner_of({.worker = 4, .block = 128}, released)};
    EXPECT_FALSE(arrived[0]) << "there are no values to read here";
    auto slot = arrived[0];
    arrived.clear();
    ASSERT_EQ(released.size(), 1U) << "a slot still has the other";
    EXPECT_EQ(released[0].worker, 4);
    EXPECT_EQ(released[0].block, 128);
    slot.reset();
    ASSERT_EQ(released.size(), 2U);
    EXPECT_EQ(released[1].worker, 3);
}

TEST(Doorbells, ARingBeforeTheSleepIsNotLost)
{
    Doorbells coordinator(0, 2);
    if (!coordinator.present()) GTEST_SKIP() << "this system gives no memory to share";
    Doorbells worker(coordinator.address(), 1, 2);
    const auto received = worker.rings();
    coordinator.ring(1);
    const auto began = clock_seconds();
    worker.wait(received, 30);
    EXPECT_LT(clock_seconds() - began, 15);
}

TEST(Doorbells, ACoordinatorForWhichNobodyHasWaitedIsGone)
{
    const Doorbells coordinator(0, 2);
    if (!coordinator.present()) GTEST_SKIP() << "this system gives no memory to share";
    const Doorbells worker(coordinator.address(), 1, 2);
    EXPECT_FALSE(worker.gone(0));
    const pid_t process = fork();
    if (process == 0) {
        const Doorbells killed(coordinator.address(), 0, 2);
        raise(SIGKILL);
    }
    siginfo_t ended;
    waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT);
    EXPECT_TRUE(worker.gone(0)) << "as below mpiexec -disable-auto-cleanup, which waits for all";
    waitpid(process, nullptr, 0);
    EXPECT_TRUE(worker.gone(0));
}

// On a host without the coordinator, ranks ring for each other; but other hosts cannot.
TEST(Doorbells, OfAnotherHostDoNotRingForAll)
{
    Doorbells first(3, 5);
    if (!first.present()) GTEST_SKIP() << "this system gives no memory to share";
    Doorbells second(first.address(), 4, 5);
    ASSERT_TRUE(second.present());
    EXPECT_FALSE(second.with_coordinator());
    EXPECT_FALSE(second.all_ring());
    first.ring(4);
    EXPECT_EQ(second.rings(), 1u);
    EXPECT_FALSE(second.gone(0)) << "nobody here knows";
}

TEST(Doorbells, SomebodyElsesMemoryIsNotJoined)
{
    const Doorbells coordinator(0, 2);
    auto address = coordinator.address();
    address.token ^= 1;  // another host may have a process of that number
    EXPECT_FALSE(Doorbells(address, 1, 2).present());
    Doorbells none;
    none.ring(0);  // nothing happens
    EXPECT_FALSE(none.present());
}

// A ping to a rank that is busy is under way for long.
TEST(MessagePool, SmallMessagesKeepNoLargeBuffer)
{
    transport::Pool pool;
    auto large = pool.take(2'000'000);
    const auto* buffer = large.get();
    large.reset();
    const auto ping = pool.take(0);
    EXPECT_NE(ping.get(), buffer);
    EXPECT_EQ(pool.take(65'535)->capacity(), 65'535U);
    large = pool.take(1'000'000);
    EXPECT_EQ(large.get(), buffer);
    large.reset();
    EXPECT_EQ(pool.take(3'000'000).get(), buffer) << "it grows";
}

}  // namespace
}  // namespace quorate
