// SPDX-License-Identifier: BSD-2-Clause
// Who is dead, as its observer sees it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "ranks/failure_detector.hpp"

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

}  // namespace
}  // namespace quorate
