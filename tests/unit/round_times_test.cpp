// SPDX-License-Identifier: BSD-2-Clause
// Where the time of a run went, on traces that are small enough to be added up by hand.
#include "trace/round_times.hpp"

#include <gtest/gtest.h>

#include "commands/summary.hpp"

namespace quorate {
namespace {

// A run of 4 workers that waits for all of them: worker w answers after w + 1 s of delay, 1 s of
// computing and half a second of messages; the update takes a quarter of a second.
trace::Trace waits_for_all(int rounds)
{
    trace::Trace trace;
    trace.attributes = {{"scheme", "uncoded"}, {"workers", "4"}, {"seed", "7"},
                        {"delay", "fixed:1"},  {"config", ""},   {"model", ""},
                        {"slowdown", "none"},  {"nodes", "a b"}, {"trace_arrivals", "all"}};
    trace.workers = {{1, 10, 2, 0}, {2, 10, 2, 0}, {3, 10, 2, 1}, {4, 10, 2, 1}};
    double begin = 0;
    for (int round = 1; round <= rounds; ++round) {
        for (int worker = 0; worker < 4; ++worker) {
            trace::Arrival arrival{};
            arrival.event = 10 * round + worker;
            arrival.round = arrival.used = round;
            arrival.worker = worker;
            arrival.sent = begin;
            arrival.delay = worker + 1;
            arrival.compute = 1;
            arrival.arrived = begin + worker + 2.5;
            trace.arrivals.push_back(arrival);
        }
        trace::Round row{};
        row.wait = 5.5;
        row.time = begin + 5.75;
        row.used = 4;
        begin = row.time;
        trace.rounds.push_back(row);
    }
    return trace;
}

TEST(RoundTimes, WaitingIsForThePartsOfTheAnswerThatEndedTheRound)
{
    const auto waiting = waiting_of(waits_for_all(3));
    EXPECT_DOUBLE_EQ(waiting.all, 3 * 5.5);
    EXPECT_NEAR(waiting.delay, 3 * 4, 1e-12);
    EXPECT_NEAR(waiting.computing, 3 * 1, 1e-12);
    EXPECT_NEAR(waiting.message, 3 * 0.5, 1e-12);
}

TEST(RoundTimes, PartsThatLieBeforeTheRoundAreNotWaitedFor)
{
    auto trace = waits_for_all(2);
    // The answers of the second round were sent for 4.75 s before it: all delay, and 0.75 s of
    // computing.
    for (auto& arrival : trace.arrivals)
        if (arrival.round == 2) arrival.sent -= 4.75, arrival.arrived -= 4.75;
    trace.rounds[1].wait = 0.75;
    const auto waiting = waiting_of(trace);
    EXPECT_NEAR(waiting.delay, 4, 1e-12);
    EXPECT_NEAR(waiting.computing, 1 + 0.25, 1e-12);
    EXPECT_NEAR(waiting.message, 0.5 + 0.5, 1e-12);
}

TEST(RoundTimes, OnlySharesAreKnownWithoutArrivals)
{
    auto trace = waits_for_all(2);
    trace.arrivals.clear();
    trace.attributes["trace_arrivals"] = "none";
    EXPECT_DOUBLE_EQ(waiting_of(trace).all, 11);
    EXPECT_DOUBLE_EQ(waiting_of(trace).delay, 0);
    EXPECT_TRUE(response_times(trace).slowest_first.empty());
    EXPECT_FALSE(saving_of(trace));
}

TEST(RoundTimes, TheSlowestWorkerIsFirst)
{
    const auto times = response_times(waits_for_all(3));
    EXPECT_TRUE(times.in_rounds);
    ASSERT_EQ(times.slowest_first.size(), 4U);
    for (int i = 0; i < 4; ++i) {
        const auto& one = times.slowest_first[static_cast<std::size_t>(i)];
        EXPECT_EQ(one.worker, 3 - i);
        EXPECT_NEAR(one.mean, 5.5 - i, 1e-12);
        EXPECT_EQ(one.answered, 3);
    }
}

TEST(RoundTimes, WhoDoesNotAnswerTakesTheWholeRound)
{
    auto trace = waits_for_all(2);
    // Worker 0 answers in the first round only, and worker 1 never.
    std::erase_if(trace.arrivals, [](const auto& arrival) {
        return arrival.worker == 1 || (arrival.worker == 0 && arrival.round == 2);
    });
    const auto times = response_times(trace);
    ASSERT_EQ(times.slowest_first.size(), 4U);
    EXPECT_EQ(times.slowest_first[0].worker, 1);
    EXPECT_NEAR(times.slowest_first[0].mean, 5.75, 1e-12);
    EXPECT_EQ(times.slowest_first[0].answered, 0);
    // Its mean is the least of all, but it was late.
    EXPECT_EQ(times.slowest_first[1].worker, 0);
    EXPECT_NEAR(times.slowest_first[1].mean, (2.5 + 5.75) / 2, 1e-12);
    EXPECT_EQ(times.slowest_first[1].answered, 1);
}

TEST(RoundTimes, TasksThatOutliveRoundsAreTimedFromTheirDispatch)
{
    auto trace = waits_for_all(4);
    std::erase_if(trace.arrivals, [](const auto& arrival) { return arrival.round < 3; });
    for (auto& arrival : trace.arrivals) arrival.sent -= 10;
    const auto times = response_times(trace);
    EXPECT_FALSE(times.in_rounds);
    EXPECT_NEAR(times.slowest_first[0].mean, 15.5, 1e-12);
}

TEST(RoundTimes, FewerAnswersWouldHaveSavedWhatTheOthersTookLonger)
{
    // Answers come after 2.5, 3.5, 4.5 and 5.5 s. For one straggler: 4.5 s, and 1 s more of
    // computing, so that nothing is saved; for two: 3.5 s and 2 s more.
    const auto saving = saving_of(waits_for_all(3));
    ASSERT_TRUE(saving);
    EXPECT_EQ(saving->stragglers, 1);
    EXPECT_NEAR(saving->coded, 3 * (5.5 + 0.25), 1e-12);
    EXPECT_NEAR(saving->ignoring, 3 * (4.5 + 0.25), 1e-12);
    auto fast = waits_for_all(3);
    for (auto& arrival : fast.arrivals) arrival.compute = 0.25;
    const auto more = saving_of(fast);
    EXPECT_EQ(more->stragglers, 2);
    EXPECT_NEAR(more->coded, 3 * (3.5 + 0.5 + 0.25), 1e-12);
}

TEST(RoundTimes, NothingIsSaidOfAnswersThatNobodyHasSeen)
{
    auto trace = waits_for_all(3);
    trace.arrivals[5].used = 0;
    EXPECT_FALSE(saving_of(trace));
    trace = waits_for_all(3);
    trace.arrivals.pop_back();
    EXPECT_FALSE(saving_of(trace));
    trace = waits_for_all(3);
    trace.arrivals[4].worker = trace.arrivals[5].worker;
    EXPECT_FALSE(saving_of(trace));
}

TEST(Summary, FitsAMail)
{
    std::string text;
    for (const auto& lines : summary(waits_for_all(3))) text += lines;
    EXPECT_EQ(text,
              "setting   uncoded, 4 workers, delay fixed:1, seed 7; times only\n"
              "waiting   95.7% of the time: for delays 72.7%, computing 18.2%, messages 9.09%\n"
              "slowest   worker 3 on b 5.5 s, worker 2 on b 4.5 s, worker 1 on a 3.5 s; median\n"
              "          4 s, to the answer or the end of a round\n"
              "better    no code: 17.25 s with 3 of 4 answers a round and 2 times the\n"
              "          computing, as a code for 1 straggler needs; 14.25 s with no more\n"
              "          computing (ignore --stragglers 1); by the times of these answers\n");
    trace::Trace empty = waits_for_all(0);
    EXPECT_EQ(summary(empty).size(), 1U);
}

}  // namespace
}  // namespace quorate
