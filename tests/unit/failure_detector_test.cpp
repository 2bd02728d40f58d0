// SPDX-License-Identifier: BSD-2-Clause
// Who is dead, as its observer sees it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "ranks/failure_detector.hpp"
#include "ranks/succession.hpp"
#include "transport/survivors.hpp"
#include "transport/thread_endpoint.hpp"

namespace quorate {
namespace {

constexpr Seconds timeout = 10;

/// An end of messages that none come from.
class Silence final : public transport::Endpoint {
public:
    Silence() : Endpoint(0, 2, "here") {}
    transport::Ticket send(int, transport::Tag, std::shared_ptr<transport::Bytes>) override
    {
        return {};
    }
    void ring() override {}
    bool wakes() const override { return false; }
    void advance() override {}
    void wait(Seconds) override {}
    void restart_wait() override {}
    void interrupt() override {}
    bool is_sending() const override { return false; }
    bool is_receiving() const override { return false; }
    void forsake(int) override {}
    void expect(int) override {}
    [[noreturn]] void die() override { std::abort(); }
    bool has_ended(int) const override { return ended; }
    bool is_unreachable(int) const override { return false; }

    bool ended = false;
};

/// An observer of rank 1 on a clock of its own.
struct Observer {
    Silence silence;
    Seconds now = 1000;
    FailureDetector detector{silence, timeout, [this] { return now; }};

    /// Looks 50 times a second.
    void look(Seconds seconds)
    {
        for (const auto end = now + seconds; now < end; now += 0.02) detector.should_ping(1);
    }
};

TEST(FailureDetector, WhoIsSilentForTheTimeoutIsDead)
{
    Observer observer;
    observer.look(0.9 * timeout);
    EXPECT_FALSE(observer.detector.is_dead(1));
    EXPECT_TRUE(observer.detector.is_suspect(1));
    observer.look(0.2 * timeout);
    EXPECT_TRUE(observer.detector.is_dead(1));
    observer.detector.is_alive(1);
    EXPECT_FALSE(observer.detector.is_dead(1));
}

TEST(FailureDetector, SilenceWhileTheObserverDidNotLookIsNone)
{
    // A suspended job, a frozen host, a file system that stalls.
    Observer observer;
    for (const Seconds pause : {timeout, 25.0, 3600.0}) {
        observer.look(0.5 * timeout);
        observer.now += pause;
        EXPECT_FALSE(observer.detector.is_dead(1)) << pause;
        observer.look(0.3 * timeout);
        EXPECT_FALSE(observer.detector.is_dead(1)) << pause;
        observer.detector.is_alive(1);
    }
    observer.look(1.1 * timeout);
    EXPECT_TRUE(observer.detector.is_dead(1));
}

TEST(FailureDetector, ALongMessageTakesItsTime)
{
    Observer observer;
    observer.detector.allow(1, 200);
    observer.look(209);
    EXPECT_FALSE(observer.detector.is_dead(1));
    observer.look(2);
    EXPECT_TRUE(observer.detector.is_dead(1));
    observer.detector.is_alive(1);
    observer.look(1.1 * timeout);
    EXPECT_TRUE(observer.detector.is_dead(1)) << "it has had its time";
}

TEST(FailureDetector, WhatIsSentToTheDeadDoesNotReviveThem)
{
    Observer observer;
    for (int i = 0; i < 110; ++i) {
        observer.detector.allow(1, 0.01);
        observer.look(0.1);
    }
    EXPECT_TRUE(observer.detector.is_dead(1));
}

TEST(FailureDetector, WhoLoadsRowsHasTenTimeouts)
{
    Observer observer;
    observer.detector.extend_grace(1);
    observer.look(9.9 * timeout);
    EXPECT_FALSE(observer.detector.is_dead(1));
    observer.detector.end_grace(1);
    observer.look(1.1 * timeout);
    EXPECT_TRUE(observer.detector.is_dead(1));
}

TEST(FailureDetector, WhoWasSeenToEndIsDead)
{
    Observer observer;
    observer.silence.ended = true;
    EXPECT_TRUE(observer.detector.is_dead(1));
}

// --- when the coordinator is dead
// -----------------------------------------------------------------

// Ranks of threads, of which rank 0 and some others have ended.
class Orphans : public testing::Test {
protected:
    // @return of each rank that is there, whom it takes to be left
    std::vector<std::vector<int>> agree(const std::vector<int>& there, Seconds timeout = 0.2)
    {
        transport::Threads threads(5);
        std::vector<std::vector<int>> left(there.size());
        std::vector<std::unique_ptr<transport::ThreadEndpoint>> all;
        for (int rank = 0; rank < 5; ++rank)
            all.push_back(std::make_unique<transport::ThreadEndpoint>(threads, rank, "host"));
        for (int rank = 0; rank < 5; ++rank)
            if (std::ranges::find(there, rank) == there.end())
                all[static_cast<std::size_t>(rank)].reset();
        std::vector<std::jthread> running;
        for (std::size_t i = 0; i < there.size(); ++i)
            running.emplace_back([&, i] {
                left[i] = Succession(*all[static_cast<std::size_t>(there[i])], timeout).agree();
            });
        running.clear();
        return left;
    }
};

TEST_F(Orphans, AgreeWhoIsLeft)
{
    const std::vector<int> all = {1, 2, 3, 4}, some = {2, 3, 4};
    EXPECT_EQ(agree(all), std::vector(4, all));
    EXPECT_EQ(agree(some), std::vector(3, some));
}

TEST_F(Orphans, NeedAQuorum) { EXPECT_EQ(agree({1, 4}), std::vector(2, std::vector<int>())); }

TEST(Succession, AgreesWithWhoFindsTheCoordinatorDead)
{
    transport::Threads threads(3);
    transport::ThreadEndpoint own(threads, 1, "host");
    Succession succession(own, 1);
    EXPECT_FALSE(succession.is_asked());
    EXPECT_TRUE(succession.take({own.pool().take(0), 2, transport::Tag::orphan}));
    EXPECT_TRUE(succession.is_asked());
    EXPECT_FALSE(succession.agrees(0.9));
    EXPECT_TRUE(succession.agrees(1.1));
    EXPECT_FALSE(succession.take({own.pool().take(0), 0, transport::Tag::task}));
}

TEST(Survivors, HaveOtherNumbersAndDropWhatWasSentBefore)
{
    using transport::Tag;
    transport::Threads threads(4);
    transport::ThreadEndpoint one(threads, 1, "host"), three(threads, 3, "host");
    const auto told = one.pool().take(0);
    one.send(3, Tag::task, told);
    transport::Survivors first(one, {1, 3}, 1);
    EXPECT_EQ(first.rank(), 0);
    EXPECT_EQ(first.size(), 2);
    first.send(1, Tag::hello, told);  // before the other one knows who is left
    EXPECT_EQ(three.receive()->tag, Tag::task);
    EXPECT_FALSE(three.receive());
    one.send(3, Tag::cancel, told);
    transport::Survivors other(three, {1, 3}, 1);
    const auto message = other.receive();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->tag, Tag::hello);
    EXPECT_EQ(message->from, 0);
    EXPECT_FALSE(other.receive());
    other.send(0, Tag::ready, told);
    EXPECT_EQ(first.receive_from(1).tag, Tag::ready);
}

}  // namespace
}  // namespace quorate
