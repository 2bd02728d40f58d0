// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/event_queue.hpp"

#include <gtest/gtest.h>

#include <queue>
#include <tuple>

#include "base/random.hpp"

namespace {

using namespace quorate;

struct Event {
    Seconds time;
    int number;
    bool operator>(const Event& other) const
    {
        return std::tie(time, number) > std::tie(other.time, other.number);
    }
};

// Events come as from a priority queue, whatever their times are: close together or far away, equal
// or infinite, pushed at once or while others are taken, and before those that come soon.
void compare(double (*time)(Stream&), int at_once, int each)
{
    Stream random(1, Purpose::delay);
    EventQueue<Event> queue;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> expected;
    Seconds now = 0;
    int number = 0;
    const auto push = [&](int count) {
        for (; count > 0; --count) {
            const Event event{now + time(random), ++number};
            queue.push(event);
            expected.push(event);
        }
    };
    for (int burst = 0; burst < 3; ++burst) {
        push(at_once);
        for (int taken = 0; !expected.empty(); ++taken) {
            ASSERT_FALSE(queue.empty());
            const auto event = queue.top([](const Event&) {});
            ASSERT_EQ(event.number, expected.top().number);
            now = event.time;
            queue.pop();
            expected.pop();
            if (taken < 2 * at_once) push(each);
        }
        EXPECT_TRUE(queue.empty());
    }
}

TEST(EventQueue, ComesInTheOrderOfAPriorityQueue)
{
    const auto exponential = [](Stream& random) { return random.exponential(1); };
    const auto heavy = [](Stream& random) { return std::pow(random.uniform(), -3); };
    const auto equal = [](Stream&) { return 1.0; };
    const auto now = [](Stream& random) { return random.below(2) == 0 ? 0.0 : 0.5; };
    const auto never_comes = [](Stream& random) { return random.below(3) == 0 ? never : 1.0; };
    for (const int at_once : {1, 2, 7, 5000}) {
        for (const int each : {0, 1}) {
            compare(exponential, at_once, each);
            compare(heavy, at_once, each);
            compare(equal, at_once, each);
            compare(now, at_once, each);
        }
        compare(never_comes, at_once, 0);
    }
}

// Those of each burst, however long the days of the burst before were at its end.
TEST(EventQueue, TellsOfAllEventsThatComeSoonButOnce)
{
    Stream random(1, Purpose::delay);
    EventQueue<Event> queue;
    constexpr int count = 1000;
    Seconds now = 0;
    for (int burst = 0; burst < 10; ++burst) {
        for (int number = 0; number < count; ++number)
            queue.push({now + random.exponential(1), number});
        std::vector<int> told(count, 0);
        int in_time = 0;
        for (; !queue.empty(); queue.pop()) {
            const auto& event = queue.top(
                [&](const Event& soon) { ++told[static_cast<std::size_t>(soon.number)]; });
            in_time += told[static_cast<std::size_t>(event.number)];
            now = event.time;
        }
        EXPECT_EQ(std::ranges::max(told), 1);
        EXPECT_GT(in_time, count * 9 / 10);
    }
}

}  // namespace
