// SPDX-License-Identifier: BSD-2-Clause
// Runs by the wall clock whose ranks are threads of this process: every scheme, with all that
// carries messages, and with transports that misbehave. Each is checked by the replay of its trace,
// which computes the same bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "base/text.hpp"
#include "faulty_endpoint.hpp"
#include "runs.hpp"
#include "same_trace.hpp"
#include "trace/reader.hpp"

namespace quorate {
namespace {

using namespace test;

constexpr auto thread_words = "--rounds 12 --step 0.1 --seed 3 --delay exponential:0.001";

// What the replay of a run by the wall clock repeats: all but the times of messages.
template <class Row>
void expect_repeated(const std::vector<Row>& run, const std::vector<Row>& again)
{
    auto but = of_messages();
    but.insert("time");
    expect_same_rows(run, again, but);
}
void expect_repeated(const Result& run, const Result& again)
{
    expect_repeated(run.trace.rounds, again.trace.rounds);
    expect_repeated(run.trace.arrivals, again.trace.arrivals);
    expect_repeated(run.trace.membership, again.trace.membership);
    expect_repeated(run.trace.evaluations, again.trace.evaluations);
    EXPECT_TRUE(same_bits(run.iterates, again.iterates));
    EXPECT_TRUE(same_bits(run.model, again.model));
}

// Gradients are folded only where their rows are dense.
const std::string& wide_data(const Way& way)
{
    const bool folds = way.scheme == "short-cyclic" || way.names("--parts");
    return folds ? data_sets().dense : data_sets().sparse;
}

/// A run and what it was told.
class ThreadRun : public testing::TestWithParam<Way> {
protected:
    Folder folder_;

    std::string words(const std::string& more = "",
                      const std::string& data = data_sets().dense) const
    {
        const auto& [scheme, options] = GetParam();
        return Way{scheme, options + " " + more}.words(thread_words) + " --data " + data;
    }
    // Replays a run, and compares. @return its trace
    Result check(const std::string& trace) const
    {
        const Result one(trace);
        EXPECT_EQ(trace::faults(one.trace), std::vector<std::string>{});
        const auto again = folder_.file("again.h5");
        const auto said =
            command("simulate --quiet --overwrite --replay " + trace + " --trace " + again);
        EXPECT_EQ(said.status, 0) << said.text;
        expect_repeated(one, Result(again));
        return one;
    }
    Result run(const std::string& words, const ThreadRanks& ranks = {}) const
    {
        const auto trace = folder_.file("a.h5");
        const auto said = run_on_threads(words + " --quiet --overwrite --trace " + trace, ranks);
        EXPECT_EQ(said.status, 0) << words << "\n" << said.text;
        return check(trace);
    }
};

ThreadRanks with_faults(const Faults& faults, std::vector<std::string> hosts = {})
{
    return {std::move(hosts), [faults](transport::Endpoint& behind) {
                return std::make_unique<FaultyEndpoint>(behind, faults);
            }};
}

// --- replays
// --------------------------------------------------------------------------------------

using Replayed = ThreadRun;

TEST_P(Replayed, ItIsTheSameFromItsTrace) { run(words()); }

INSTANTIATE_TEST_SUITE_P(Tried, Replayed, testing::ValuesIn(tried_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Stateful, Replayed, testing::ValuesIn(stateful_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Further, Replayed, testing::ValuesIn(further_ways()), way_name);

// --- transports
// -----------------------------------------------------------------------------------

using Carried = ThreadRun;

TEST_P(Carried, ByRingsAndBells)
{
    run(words("", wide_data(GetParam())), with_faults({.wakes = false}));
}

TEST_P(Carried, InMessages) { run(words("--transport messages", wide_data(GetParam()))); }

INSTANTIATE_TEST_SUITE_P(Tried, Carried, testing::ValuesIn(tried_ways()), way_name);

// --- resumptions
// ----------------------------------------------------------------------------------

using GoesOn = ThreadRun;

TEST_P(GoesOn, FromItsCheckpoint)
{
    const Killed killed(folder_, "run", words("--rounds 20"));
    const auto said = killed.resume();
    ASSERT_EQ(said.status, 0) << said.text;
    check(killed.trace);
}

TEST_P(GoesOn, WithAnotherNumberOfWorkers)
{
    if (GetParam().names("--workers")) return;  // there is no code for others
    const Killed killed(folder_, "run", words("--rounds 20"));
    const auto said = killed.resume(" --workers 6");
    if (said.status == exit_bad_input) return;  // nor here
    ASSERT_EQ(said.status, 0) << said.text;
    check(killed.trace);
}

INSTANTIATE_TEST_SUITE_P(Tried, GoesOn, testing::ValuesIn(tried_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Stateful, GoesOn, testing::ValuesIn(stateful_ways()), way_name);

// --- members
// --------------------------------------------------------------------------------------

using Members = ThreadRun;

TEST_P(Members, MayLeaveJoinDieAndBeReplaced)
{
    const auto events = " --events '2r leave 4; 4r join 4; 5r kill 2; 7r leave 5; 9r join 5'";
    run(words("--rounds 20 --standby 1 --timeout 1" + std::string(events), wide_data(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Tried, Members, testing::ValuesIn(tried_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Stateful, Members, testing::ValuesIn(stateful_ways()), way_name);

// --- nodes
// ----------------------------------------------------------------------------------------

// Of so many ranks, on so many hosts.
std::vector<std::string> hosts_of(int ranks, int hosts)
{
    std::vector<std::string> names;
    for (int rank = 0; rank < ranks; ++rank)
        names.push_back(fmt::format("n{}", rank * hosts / ranks));
    return names;
}

// Whether the scheme has no sums. (Where a rank is cut off, the status is another one.)
bool is_refused_by_node(const Said& said)
{
    return said.text.find("needs each contribution at the coordinator") != std::string::npos;
}

class OnNodes : public ThreadRun {
protected:
    void add_up_by_node(const std::string& more, int others = 0) const
    {
        const auto trace = folder_.file("a.h5");
        const auto said = run_on_threads(
            words("--aggregate node " + more, wide_data(GetParam())) + " --quiet --trace " + trace,
            {hosts_of(ranks_of(GetParam()) + others, 3), {}});
        if (is_refused_by_node(said)) return;
        ASSERT_EQ(said.status, 0) << said.text;
        EXPECT_EQ(check(trace).trace.text("aggregate"), "node");
    }
};

TEST_P(OnNodes, LeadersAddUp) { add_up_by_node(""); }

// Worker 2 is the first one of the second host. The standby rank is on the third.
TEST_P(OnNodes, LeadersMayDie)
{
    add_up_by_node(
        "--rounds 20 --standby 1 --timeout 1 --events '3r kill 2; 6r leave 4; 9r join 4'", 1);
}

INSTANTIATE_TEST_SUITE_P(Tried, OnNodes, testing::ValuesIn(tried_ways()), way_name);

// --- shares of the parameters
// ----------------------------------------------------------------

class OnShares : public ThreadRun {
protected:
    void share_out(const std::string& more) const
    {
        const auto trace = folder_.file("a.h5");
        const auto said = run_on_threads(
            words("--aggregate shares " + more, data_sets().wide) + " --quiet --trace " + trace,
            {hosts_of(ranks_of(GetParam()), 3), {}});
        if (is_refused_by_node(said) || is_refused_by_shares(said)) return;
        ASSERT_EQ(said.status, 0) << said.text;
        EXPECT_EQ(check(trace).trace.text("aggregate"), "shares");
    }

    // Kills a run that adds up in one way, and goes on in another, on other hosts.
    void go_on(const std::string& from, const std::string& to, int hosts = 3) const
    {
        const auto ranks = ranks_of(GetParam());
        const auto rounds = GetParam().names("--rounds") ? "" : "--rounds 20";
        const Killed killed(folder_, words(rounds, data_sets().wide), "--aggregate " + from,
                            {hosts_of(ranks, 3), {}});
        if (is_refused_by_node(killed.said()) || is_refused_by_shares(killed.said())) return;
        ASSERT_EQ(killed.said().status, 0) << killed.said().text;
        auto names = hosts_of(ranks, hosts);
        for (auto& name : names) name = "m" + name;
        const auto said = killed.resume_on_threads("--aggregate " + to, {names, {}});
        if (is_refused_by_shares(said)) return;
        ASSERT_EQ(said.status, 0) << said.text;
        EXPECT_EQ(check(killed.trace).trace.text("aggregate"), from);
    }

private:
    static bool is_refused_by_shares(const Said& said)
    {
        const auto says = [&](const char* why) { return said.text.find(why) != std::string::npos; };
        return says("needs all parameters in one process") || says("its message is no shorter");
    }
};

TEST_P(OnShares, OwnersDoWhatTheCoordinatorDecides) { share_out(""); }

using OnSharesThatChange = OnShares;

// Worker 3 is not the first one of its host, which owns a share.
TEST_P(OnSharesThatChange, WorkersThatOwnNoneMayLeaveJoinAndDie)
{
    share_out("--rounds 20 --timeout 1 --events '2r leave 3; 5r join 3; 9r kill 3'");
}

using GoesOnOverShares = OnShares;

TEST_P(GoesOnOverShares, FromItsCheckpoint) { go_on("shares", "shares"); }
TEST_P(GoesOnOverShares, OfARunByNode) { go_on("node", "shares"); }

using GoesOnWithoutShares = OnShares;

TEST_P(GoesOnWithoutShares, ByNode) { go_on("shares", "node"); }
TEST_P(GoesOnWithoutShares, Flat) { go_on("shares", "flat"); }
TEST_P(GoesOnWithoutShares, OnOneHost) { go_on("shares", "shares", 1); }

INSTANTIATE_TEST_SUITE_P(Tried, GoesOnOverShares, testing::ValuesIn(tried_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Stateful, GoesOnOverShares, testing::ValuesIn(stateful_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Stateful, GoesOnWithoutShares, testing::ValuesIn(stateful_ways()),
                         way_name);

INSTANTIATE_TEST_SUITE_P(Tried, OnShares, testing::ValuesIn(tried_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Stateful, OnShares, testing::ValuesIn(stateful_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Further, OnShares, testing::ValuesIn(further_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Tried, OnSharesThatChange, testing::ValuesIn(tried_ways()), way_name);

// Workers 2 and 5 are on the third host, whose share worker 2 owns; worker 1 owns the second one's.
class LosesOwners : public testing::TestWithParam<std::string> {};

TEST_P(LosesOwners, AndGoesBackToItsCheckpoint)
{
    const Folder folder;
    const auto trace = folder.file("a.h5");
    const auto said = run_on_threads(
        "--data " + data_sets().wide + " --aggregate shares --rounds 30 --workers 6 " +
            "--timeout 1 --events '20r kill 2; 25r kill 1' --quiet --checkpoint-every 3r " +
            "--checkpoint " + folder.file("a.checkpoint") + " --trace " + trace + GetParam(),
        {hosts_of(7, 3), {}});
    ASSERT_EQ(said.status, 0) << said.text;
    EXPECT_NE(said.text.find("that it owned; the 5 other ranks go on"), std::string::npos)
        << said.text;
    EXPECT_NE(said.text.find("that it owned; the 4 other ranks go on"), std::string::npos)
        << said.text;
    const Result one(trace);
    const auto again = folder.file("again.h5");
    const auto replayed = command("simulate --quiet --replay " + trace + " --trace " + again);
    EXPECT_EQ(replayed.status, 0) << replayed.text;
    expect_repeated(one, Result(again));
    EXPECT_EQ(one.trace.rounds.size(), 30U);
    const auto losses = one.trace.text("losses");
    EXPECT_EQ(std::ranges::count(losses, '\n'), 2) << losses;
    EXPECT_NE(losses.find("worker 2 on n2 is dead"), std::string::npos) << losses;
    // And what was lost is kept, unless no round was over since the checkpoint.
    std::size_t times = 0;
    for (const auto& line : split(losses, '\n'))
        times += !line.empty() && !line.starts_with("0 rounds") ? 1 : 0;
    EXPECT_EQ(one.trace.lost.size(), times) << losses;
    for (const auto& lost : one.trace.lost) {
        const auto line = fmt::format("{} rounds after round {}: {}\n", lost.rounds.size(),
                                      lost.first - 1, lost.why);
        EXPECT_NE(losses.find(line), std::string::npos) << line << losses;
        EXPECT_GT(lost.seconds, 0);
    }
    // The time of what was lost counts.
    const auto& rounds = one.trace.rounds;
    EXPECT_TRUE(std::ranges::is_sorted(rounds, {}, &trace::Round::time));
}

INSTANTIATE_TEST_SUITE_P(Options, LosesOwners,
                         testing::Values(" --step 0.1", " --step 0.1 --scheme frc --stragglers 1",
                                         " --scheme async --batch 70 --step 0.01"));

TEST(RunsOverShares, EndIfAnOwnerIsLostBeforeTheFirstCheckpoint)
{
    const Folder folder;
    const auto said = run_on_threads(
        "--data " + data_sets().wide + " --aggregate shares --rounds 30 --workers 6 " +
            "--timeout 1 --events '2r kill 2' --quiet --checkpoint " + folder.file("a.checkpoint") +
            " --trace " + folder.file("a.h5"),
        {hosts_of(7, 3), {}});
    EXPECT_EQ(said.status, exit_failed) << said.text;
    EXPECT_NE(said.text.find("there is no checkpoint yet"), std::string::npos) << said.text;
}

// --- scores
// ---------------------------------------------------------------------------------------

TEST(ThreadRuns, ModelsAreScoredWhileTheRunGoesOn)
{
    const Folder folder;
    const auto trace = folder.file("a.h5");
    const auto said =
        run_on_threads(Way{"uncoded", "--evaluate live --rounds 30"}.words(thread_words) +
                       " --data " + data_sets().dense + " --trace " + trace);
    ASSERT_EQ(said.status, 0) << said.text;
    const auto one = trace::read(trace);
    // Models that come while another one is scored are skipped, but for the last.
    ASSERT_FALSE(one.evaluations.empty());
    EXPECT_EQ(one.evaluations.back().round, 30);
    EXPECT_EQ(said.text.find("were not scored") == std::string::npos,
              one.evaluations.size() == 30U);
}

TEST(ThreadRuns, SomeRowsAreScoredAlikeByManyScorersAndOne)
{
    const Folder folder;
    const auto run = [&](const std::string& words, const std::string& trace) {
        EXPECT_EQ(run_on_threads(Way{"uncoded", words}.words(thread_words) + " --data " +
                                 data_sets().sparse + " --quiet --trace " + folder.file(trace))
                      .status,
                  0);
        return Result(folder.file(trace));
    };
    const auto some = run("--evaluate-rows train=300,test=11", "some.h5");  // in two tiles
    command("simulate --quiet --replay " + folder.file("some.h5") + " --data " +
            data_sets().sparse + " --trace " + folder.file("again.h5"));
    expect_repeated(some, Result(folder.file("again.h5")));
    EXPECT_EQ(some.trace.text("scored_rows"), "300");
    EXPECT_EQ(some.trace.text("scored_test_rows"), "11");
    const auto all = run("", "all.h5"), more = run("--evaluate-rows 1000", "more.h5");
    EXPECT_TRUE(same_bits(all.model, some.model));
    expect_repeated(all.trace.evaluations, more.trace.evaluations);
    EXPECT_NE(all.trace.evaluations.back().train_loss, some.trace.evaluations.back().train_loss);
    EXPECT_EQ(more.trace.text("scored_rows"), "400");
}

TEST(ThreadRuns, WorkersScoreWhatASpareRankThatFallsSilentDoesNot)
{
    const Folder folder;
    const auto trace = folder.file("a.h5");
    // So long that no worker is silent for it, on however few processors.
    const Way way{"uncoded", "--evaluate live --rounds 30 --timeout 3"};
    const auto said = run_on_threads(
        way.words(thread_words) + " --data " + data_sets().dense + " --quiet --trace " + trace,
        with_faults({.cut_rank = ranks_of(way), .cut_after = 3}));
    ASSERT_EQ(said.status, 0) << said.text;
    const auto one = trace::read(trace);
    EXPECT_EQ(one.evaluations.size(), 30U);
}

// --- refusals
// -------------------------------------------------------------------------------------

TEST(ThreadRuns, WhatTheyCannotDoIsRefused)
{
    const auto refused = [](const std::string& words, const std::string& why) {
        const auto said = command("run --data " + data_sets().dense + " " + words);
        EXPECT_EQ(said.status, exit_bad_input) << words;
        EXPECT_NE(said.text.find(why), std::string::npos) << said.text;
    };
    refused("", "--workers is missing");
    refused("--workers 3 --resilient", "is for processes");
    refused("--workers 500", "too few for 500 workers");
    refused("--workers 3 --scheme cyclic --stragglers 3", "stragglers");
}

// --- transports that misbehave
// --------------------------------------------------------------------

class Misbehaving : public testing::TestWithParam<int> {};

TEST_P(Misbehaving, ARunEndsAndItsReplayIsTheSame)
{
    const auto seeds = std::getenv("QUORATE_FAULT_SEEDS");
    const int blocks = seeds ? std::max(1, std::atoi(seeds) / 50) : 1;
    const auto ways = tried_ways();
    for (int block = 0; block < blocks; ++block) {
        const auto seed = static_cast<std::uint64_t>(GetParam() + 50 * block);
        std::mt19937_64 random(seed);
        const auto one_of = [&](int count) {
            return static_cast<int>(random() % static_cast<unsigned>(count));
        };
        const auto& way = ways[static_cast<std::size_t>(one_of(static_cast<int>(ways.size())))];
        const int count = ranks_of(way);
        Faults faults{.seed = seed, .late = 0.3, .longest = 2e-3, .wakes = one_of(2) == 0};
        if (one_of(3) == 0) faults.cut_rank = 1 + one_of(count - 1), faults.cut_after = one_of(60);
        if (one_of(3) == 0) faults.stall = 1e-4, faults.stalled = 0.15;
        const auto hosts = hosts_of(count, 1 + one_of(3));
        const std::string by_node = one_of(2) == 0 ? " --aggregate node" : "";
        const Folder folder;
        const auto trace = folder.file("a.h5");
        // Where nobody is to count as dead, nobody does on a machine that is busy.
        const bool may_lose = faults.cut_rank > 0 || faults.stall > 0;
        const auto words = way.words(thread_words) +
                           (may_lose ? " --timeout 0.1" : " --timeout 60") + " --data " +
                           wide_data(way) + (one_of(2) == 0 ? " --transport messages" : "") +
                           " --quiet --trace " + trace;
        SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << words << by_node);
        auto said = run_on_threads(words + by_node, with_faults(faults, hosts));
        if (is_refused_by_node(said)) said = run_on_threads(words, with_faults(faults, hosts));
        // It may lose more than its code bears. What it did until then is right.
        EXPECT_TRUE(said.status == exit_done || may_lose) << said.text;
        const auto again = folder.file("again.h5");
        const auto replayed = command("simulate --quiet --replay " + trace + " --trace " + again);
        // Which fails where the run did, if it had lost too many.
        EXPECT_TRUE(replayed.status == exit_done || replayed.status == said.status)
            << replayed.text;
        if (said.status == exit_done)
            expect_repeated(Result(trace), Result(again));
        else  // there is no final model
            expect_repeated(trace::read(trace).rounds, trace::read(again).rounds);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Misbehaving, testing::Range(0, 50));

}  // namespace
}  // namespace quorate
