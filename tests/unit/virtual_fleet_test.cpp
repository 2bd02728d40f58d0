// SPDX-License-Identifier: BSD-2-Clause
// The virtual clock: what happens when, to the last bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "fleet/virtual_fleet.hpp"
#include "simulation.hpp"

namespace quorate {
namespace {

using namespace test;
using Begin = TaskControl::Begin;

std::shared_ptr<const Plan> plan(std::vector<int> blocks, bool each_when_ready = false)
{
    Plan plan;
    for (const int block : blocks) plan.parts.push_back({{{block}}});
    plan.each_when_ready = each_when_ready;
    return std::make_shared<const Plan>(std::move(plan));
}

// Three workers with four blocks of 10, 20, 30 and 40 rows.
class Clock : public ::testing::Test {
protected:
    void start(const std::string& delay, Seconds row_time = 0, const Network& network = {},
               std::int64_t columns = 0, Options models = {})
    {
        models["delay"] = delay;
        models["slowdown"] = "fixed:3,2";
        stragglers_ = make_stragglers(models, 3, 7);
        Needs needs;
        needs.blocks = {{0, 10}, {10, 20}, {30, 30}, {60, 40}};
        needs.shard = {{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}};
        batches_.emplace(needs, 0, 0);
        recipes_.emplace(needs, *batches_, nobody_, columns);
        fleet_.emplace(*recipes_, VirtualTimes{stragglers_.models(row_time), network});
    }

    void give(TaskId task, Worker worker, std::shared_ptr<const Plan> work,
              Begin begin = Begin::now, std::int64_t draw = 0, Version version = 0)
    {
        fleet_->dispatch({.task = task,
                          .worker = worker,
                          .plan = std::move(work),
                          .inputs = {version},
                          .control = {.draw = draw, .begin = begin}},
                         {nullptr});
    }

    struct Message {
        TaskId task;
        int part;
        Seconds arrived;
        bool operator==(const Message&) const = default;
    };

    // All that comes until then; what comes at once by task.
    std::vector<Message> come(Seconds until)
    {
        std::vector<Message> all;
        const std::atomic<bool> stop = false;
        for (;;) {
            const auto arrivals = fleet_->wait(until, stop);
            if (arrivals.empty()) {
                std::ranges::stable_sort(
                    all, {}, [](const Message& one) { return std::pair(one.arrived, one.task); });
                return all;
            }
            for (const auto& one : arrivals) {
                all.push_back({one.task, one.part, one.arrived});
                EXPECT_EQ(one.arrived, fleet_->now());
                last_ = one;
                fleet_->release(one.handle);
            }
        }
    }

    OwnedDelayModels stragglers_;
    ByzantineWorkers nobody_;
    std::optional<Batches> batches_;
    std::optional<Recipes> recipes_;
    std::optional<VirtualFleet> fleet_;
    std::optional<Arrival> last_;
};

#define EXPECT_COME(until, ...) EXPECT_EQ(come(until), (std::vector<Message>{__VA_ARGS__}))

TEST_F(Clock, AnswersAtTheSameTimeComeInARandomOrderAndThoseAtTheDeadlineCount)
{
    start("constant:1");
    std::map<TaskId, int> last;  // by worker, how often it came last
    const std::atomic<bool> stop = false;
    for (TaskId round = 0; round < 300; ++round) {
        for (Worker worker = 0; worker < 3; ++worker)
            give(3 * round + worker, worker, plan({0}), Begin::now, round, round);
        const auto until = static_cast<Seconds>(round + 1);
        for (int i = 0; i < 3; ++i) {
            const auto arrivals = fleet_->wait(until, stop);
            ASSERT_EQ(arrivals.size(), 1U);
            if (i == 2) ++last[arrivals[0].worker];
            fleet_->release(arrivals[0].handle);
        }
        EXPECT_EQ(fleet_->now(), until);
    }
    for (const auto& [worker, times] : last) EXPECT_NEAR(times, 100, 30) << worker;
}

TEST_F(Clock, ADeadlineBeforeAnyAnswerIsKept)
{
    start("constant:1");
    give(1, 0, plan({0}));
    EXPECT_COME(0.5);
    EXPECT_EQ(fleet_->now(), 0.5);
    EXPECT_COME(2, {1, 0, 1});
    EXPECT_EQ(fleet_->now(), 2);
}

TEST_F(Clock, ComputationTakesItsRowsTimesTheSlowdown)
{
    start("constant:1", 0.125);
    give(1, 0, plan({0, 1}));
    EXPECT_COME(10, {1, 0, 1 + 30 * 0.125}, {1, 1, 1 + 30 * 0.125});
    give(2, 2, plan({0}));
    EXPECT_COME(20, {2, 0, 10 + 1 + 30 * 0.125});
    EXPECT_EQ(last_->compute, 3 * 10 * 0.125);
    EXPECT_EQ(last_->delay, 1);
}

TEST_F(Clock, PartsComeWhenReadyIfThePlanSaysSo)
{
    start("constant:1", 0.125);
    give(1, 0, plan({0, 1}, true));
    EXPECT_COME(10, {1, 0, 1 + 10 * 0.125}, {1, 1, 1 + 30 * 0.125});
}

TEST_F(Clock, ANewTaskReplacesTheRunningOneAndAFollowingOneDoesNot)
{
    start("none", 0.125);
    give(1, 0, plan({3}));
    give(2, 1, plan({3}));
    EXPECT_COME(1);
    give(3, 0, plan({0}));
    give(4, 1, plan({0}), Begin::after);
    EXPECT_COME(10, {3, 0, 1 + 10 * 0.125}, {2, 0, 5}, {4, 0, 5 + 10 * 0.125});
}

TEST_F(Clock, ADrawsDelayIsPaidOnce)
{
    start("constant:2", 0.125);
    give(1, 0, plan({0}), Begin::now, 5);
    EXPECT_COME(1);
    give(2, 0, plan({0}), Begin::now, 5);  // sleeps what is left
    EXPECT_COME(10, {2, 0, 2 + 10 * 0.125});
    EXPECT_EQ(last_->delay, 1);
    give(3, 0, plan({0}), Begin::now, 5);
    EXPECT_COME(20, {3, 0, 10 + 10 * 0.125});
    EXPECT_EQ(last_->delay, 0);
    EXPECT_EQ(last_->idle, 10 - 3.25);
    give(4, 0, plan({0}), Begin::now, 6);
    EXPECT_COME(30, {4, 0, 20 + 2 + 10 * 0.125});
}

TEST_F(Clock, AClosedTaskIsDroppedAndItsWorkerIdle)
{
    start("constant:2");
    give(1, 0, plan({0}));
    give(2, 1, plan({0}));
    EXPECT_COME(1);
    fleet_->close(0, 1);
    EXPECT_COME(4, {2, 0, 2});
    give(3, 0, plan({0}), Begin::after, 1);
    EXPECT_COME(9, {3, 0, 6});
    EXPECT_EQ(last_->idle, 3);
}

TEST_F(Clock, WhoIsDoneAtTheMomentOfReplacementHasAnswered)
{
    start("none", 0.125);
    give(1, 0, plan({0}));
    EXPECT_COME(10 * 0.125, {1, 0, 10 * 0.125});
    give(2, 0, plan({0}));
    EXPECT_COME(10, {2, 0, 20 * 0.125});
}

TEST_F(Clock, ALateMessageComesAfterTheComputation)
{
    start("none", 0.125, {}, 0, {{"uplink-delay", "constant:2"}});
    give(1, 0, plan({0}));
    EXPECT_COME(100, {1, 0, 10 * 0.125 + 2});
    EXPECT_EQ(last_->compute, 10 * 0.125);
    EXPECT_EQ(last_->delay, 2);
}

TEST_F(Clock, ADelayOfRowsIsNotStretchedBySlowdown)
{
    start("constant:1", 0.125, {}, 0, {{"row-delay", "constant:0.5"}});
    give(1, 2, plan({0}));
    EXPECT_COME(100, {1, 0, 1 + 10 * (0.125 * 3 + 0.5)});
    EXPECT_EQ(last_->compute, 10 * (0.125 * 3 + 0.5));
    EXPECT_EQ(last_->delay, 1);
}

TEST_F(Clock, ALateTaskLeavesTheOneBeforeItAlone)
{
    start("none", 0.125, {}, 0, {{"downlink-delay", "constant:2"}});
    give(1, 0, plan({0}));
    EXPECT_COME(1);
    give(2, 0, plan({1}), Begin::now, 1);  // there at 3; the first is done at 2 + 1.25
    EXPECT_COME(3.5);
    EXPECT_COME(10, {2, 0, 3 + 20 * 0.125});
    EXPECT_EQ(last_->idle, 0);
    give(3, 0, plan({0}), Begin::now, 2);
    EXPECT_COME(20, {3, 0, 12 + 10 * 0.125});
    EXPECT_EQ(last_->idle, 12 - 5.5);
    EXPECT_EQ(last_->delay, 0);
}

TEST_F(Clock, NoTaskOvertakesALateOne)
{
    start("none", 0.125, {}, 0, {{"downlink-delay", "gilbert-elliott:0.5,0.5,4"}});
    auto& late = stragglers_.of("downlink-delay");
    std::int64_t first = 0;  // a draw that is late before one that is not
    while (late.draw(0, first, 0) == 0 || late.draw(0, first + 1, 0) > 0) ++first;
    give(1, 0, plan({0}), Begin::now, first);
    give(2, 0, plan({1}), Begin::after, first + 1);
    EXPECT_COME(20, {1, 0, 4 + 10 * 0.125}, {2, 0, 4 + 30 * 0.125});
}

TEST_F(Clock, ACancelFollowsALateTask)
{
    start("none", 0.125, {}, 0, {{"downlink-delay", "constant:2"}});
    give(1, 0, plan({3}));
    EXPECT_COME(1);
    fleet_->close(0, 1);
    give(2, 1, plan({0}));
    EXPECT_COME(20, {2, 0, 1 + 2 + 10 * 0.125});
    give(3, 0, plan({0}), Begin::after, 1);
    EXPECT_COME(40, {3, 0, 20 + 2 + 10 * 0.125});
    EXPECT_EQ(last_->idle, 20);  // the first was dropped at 2, as soon as it was there
}

// A message with a point or a gradient is 64 + 8 * 117 = 1000 bytes, one second on the wire.
constexpr std::int64_t columns = 117;

TEST_F(Clock, ASharedPortPassesOneMessageAtATime)
{
    start("none", 0, {.latency = 0.5, .bandwidth = 1000, .shared_port = true}, columns);
    give(1, 0, plan({0}));
    give(2, 1, plan({0}));
    // Sent until 1 and 2, there at 1.5 and 2.5, back at the port at 2 and 3.
    EXPECT_COME(10, {1, 0, 3}, {2, 0, 4});
    give(3, 1, plan({0}), Begin::now, 1);
    EXPECT_COME(20, {3, 0, 10 + 0.064 + 0.5 + 0.5 + 1});
    EXPECT_EQ(last_->send, 4 - 2.5);  // of the message before
}

TEST_F(Clock, SeparatePortsDoNotWaitForEachOther)
{
    start("none", 0, {.latency = 0.5, .bandwidth = 1000, .shared_port = false}, columns);
    give(1, 0, plan({0}));
    give(2, 1, plan({0}));
    EXPECT_COME(10, {1, 0, 3}, {2, 0, 3});
    EXPECT_EQ(fleet_->bytes_sent(), 2000);
    EXPECT_EQ(fleet_->bytes_received(), 2000);
}

TEST_F(Clock, APointThatAWorkerHoldsDoesNotTravelAgain)
{
    start("none", 0, {.latency = 0, .bandwidth = 1000, .shared_port = false}, columns);
    give(1, 0, plan({0}));
    EXPECT_COME(4, {1, 0, 2});
    give(2, 0, plan({0}), Begin::now, 1, 0);
    EXPECT_COME(10, {2, 0, 4 + 0.064 + 1});
}

TEST_F(Clock, AnOrderThatStillWaitsForThePortIsReplaced)
{
    start("none", 0, {.latency = 0, .bandwidth = 1000, .shared_port = true}, columns);
    give(1, 0, plan({0}));
    give(2, 1, plan({0}));
    EXPECT_COME(0.5);
    give(3, 1, plan({0}), Begin::now, 0, 1);
    EXPECT_COME(10, {1, 0, 2}, {3, 0, 3});
}

TEST_F(Clock, ALateTaskTravelsFirst)
{
    start("none", 0, {.latency = 0.5, .bandwidth = 1000, .shared_port = false}, columns,
          {{"downlink-delay", "constant:2"}});
    give(1, 0, plan({0}));
    EXPECT_COME(10, {1, 0, 1 + 0.5 + 2 + 0.5 + 1});
}

TEST_F(Clock, NothingToWaitForIsABug)
{
    start("none");
    const std::atomic<bool> stop = false;
    EXPECT_THROW(fleet_->wait(never, stop), Failure);
}

}  // namespace
}  // namespace quorate
