// SPDX-License-Identifier: BSD-2-Clause
// Messages in shared memory. The other end is a process of its own where it matters that it may end
// at any time.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "transport/channel.hpp"

namespace quorate {
namespace {

class ChannelTest : public ::testing::Test {
protected:
    void SetUp() override
    {
        if (!mine.present()) GTEST_SKIP() << "this system gives no memory to share";
        theirs = Channel::open(mine.address());
        ASSERT_TRUE(theirs.present());
    }
    // A message whose bytes all follow from its number.
    std::shared_ptr<transport::Bytes> message(int number)
    {
        auto bytes = pool.take(sizeof number + static_cast<std::size_t>(number) * 37 % 1000);
        std::fill_n(bytes->data(), bytes->size(), static_cast<std::byte>(number));
        std::memcpy(bytes->data(), &number, sizeof number);
        return bytes;
    }
    static int number_in(const transport::Bytes& bytes)
    {
        int number = -1;
        std::memcpy(&number, bytes.data(), sizeof number);
        const auto size = sizeof number + static_cast<std::size_t>(number) * 37 % 1000;
        const bool whole =
            bytes.size() == size &&
            std::all_of(bytes.data() + sizeof number, bytes.data() + size,
                        [&](auto one) { return one == static_cast<std::byte>(number); });
        return whole ? number : -1;
    }
    std::optional<transport::Message> receive(Channel& channel)
    {
        return channel.receive(0, pool, bells);
    }

    static bool has_left(const std::shared_ptr<const bool>& ticket)
    {
        return transport::Ticket(ticket).has_left();
    }

    transport::Pool pool;
    Doorbells bells;
    Channel mine = Channel::make(), theirs;
};

TEST_F(ChannelTest, MessagesKeepTheirOrderAndTheirBytes)
{
    EXPECT_FALSE(receive(theirs));
    for (int number = 0; number < 1000; number += 2) {
        EXPECT_TRUE(has_left(mine.send(transport::Tag::task, message(number))));
        EXPECT_TRUE(has_left(mine.send(transport::Tag::cancel, message(number + 1))));
        for (const auto expected : {number, number + 1}) {
            auto came = receive(theirs);
            ASSERT_TRUE(came);
            EXPECT_EQ(came->tag, expected % 2 == 0 ? transport::Tag::task : transport::Tag::cancel);
            EXPECT_EQ(number_in(*came->bytes), expected);
        }
    }
    EXPECT_FALSE(receive(theirs));
}

TEST_F(ChannelTest, MessagesMayBeEmptyAndBothWaysAreApart)
{
    EXPECT_TRUE(has_left(mine.send(transport::Tag::pong, pool.take(0))));
    EXPECT_TRUE(has_left(theirs.send(transport::Tag::ping, pool.take(0))));
    const auto ping = receive(mine), pong = theirs.receive(3, pool, bells);
    ASSERT_TRUE(ping && pong);
    EXPECT_EQ(ping->tag, transport::Tag::ping);
    EXPECT_EQ(ping->bytes->size(), 0u);
    EXPECT_EQ(pong->tag, transport::Tag::pong);
    EXPECT_EQ(pong->from, 3);
}

TEST_F(ChannelTest, WhatFindsNoRoomWaitsAndIsNotLost)
{
    std::vector<std::shared_ptr<const bool>> sent;
    for (int number = 0; number < 200; ++number)
        sent.push_back(mine.send(transport::Tag::task, message(number)));
    EXPECT_TRUE(has_left(sent.front()));
    EXPECT_FALSE(has_left(sent.back()));
    mine.advance();
    EXPECT_TRUE(mine.is_sending());
    int received = 0;
    while (auto came = receive(theirs)) {
        EXPECT_EQ(number_in(*came->bytes), received++);
        mine.advance();
    }
    EXPECT_EQ(received, 200);
    EXPECT_FALSE(mine.is_sending());
    EXPECT_TRUE(std::ranges::all_of(sent, has_left));
}

TEST_F(ChannelTest, AWriterThatWaitsForRoomIsWoken)
{
    Doorbells coordinator(0, 2);
    Doorbells worker(coordinator.address(), 1, 2);
    std::vector<std::byte> room(Ring::longest);
    for (int i = 0; i < 6; ++i) mine.send(transport::Tag::task, pool.take(Ring::longest));
    const auto before = worker.rings();
    ASSERT_TRUE(theirs.receive(1, pool, coordinator));
    EXPECT_EQ(worker.rings(), before + 1);
    ASSERT_TRUE(theirs.receive(1, pool, coordinator));
    EXPECT_EQ(worker.rings(), before + 1);  // it has been told, and has not asked again
}

TEST_F(ChannelTest, AnAnnouncedMessageIsWaitedFor)
{
    // As send() does for a long message; both orders of its coming are possible.
    Ring ring;
    auto file = SharedFile(mine.address());
    const auto memory = file.map(SharedFile::first, 2 * Ring::size());
    ring = Ring(memory->data());
    ASSERT_TRUE(ring.announce(static_cast<int>(transport::Tag::ready), 0));
    EXPECT_FALSE(theirs.awaits_other_way());
    EXPECT_FALSE(receive(theirs));
    EXPECT_TRUE(theirs.awaits_other_way());
    theirs.take({.bytes = message(7), .from = 0, .tag = transport::Tag::ready});
    EXPECT_FALSE(theirs.awaits_other_way());
    auto came = receive(theirs);
    ASSERT_TRUE(came);
    EXPECT_EQ(number_in(*came->bytes), 7);
    // One that comes before it is announced stays behind what was sent earlier.
    theirs.take({.bytes = message(9), .from = 0, .tag = transport::Tag::ready});
    EXPECT_FALSE(receive(theirs));
    const auto short_one = message(8);
    ASSERT_TRUE(ring.push(static_cast<int>(transport::Tag::pong), 0,
                          {short_one->data(), short_one->size()}));
    ASSERT_TRUE(ring.announce(static_cast<int>(transport::Tag::ready), 0));
    EXPECT_EQ(number_in(*receive(theirs)->bytes), 8);
    EXPECT_EQ(number_in(*receive(theirs)->bytes), 9);
    EXPECT_FALSE(receive(theirs));
}

TEST_F(ChannelTest, SpoiltMemoryIsNoticed)
{
    auto file = SharedFile(mine.address());
    const auto memory = file.map(SharedFile::first, 2 * Ring::size());
    mine.send(transport::Tag::task, message(1));
    std::fill_n(memory->data() + 192, sizeof(Ring::Head), std::byte{0x7f});
    EXPECT_THROW(receive(theirs), Failure);
}

// A sender that is killed at any instruction leaves whole messages, in order.
TEST_F(ChannelTest, ASenderMayBeKilled)
{
    constexpr int least = 2000;
    const auto sender = fork();
    if (sender == 0)
        for (int number = 0;; ++number) {
            mine.send(transport::Tag::contribution, message(number));
            while (mine.advance(), mine.is_sending()) sched_yield();
        }
    int received = 0;
    const auto take_all = [&] {
        while (auto came = receive(theirs)) ASSERT_EQ(number_in(*came->bytes), received++);
    };
    while (received < least && !HasFatalFailure()) {
        take_all();
        sched_yield();
    }
    EXPECT_EQ(kill(sender, SIGKILL), 0);
    EXPECT_EQ(waitpid(sender, nullptr, 0), sender);
    take_all();
    EXPECT_GE(received, least);
    EXPECT_FALSE(receive(theirs));
}

}  // namespace
}  // namespace quorate
