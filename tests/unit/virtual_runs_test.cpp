// SPDX-License-Identifier: BSD-2-Clause
// Every scheme under the virtual clock, from its words to its trace: what it computes again, twice,
// from its trace, from its configuration and from a checkpoint, is the same bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "base/error.hpp"
#include "commands/check_estimates.hpp"
#include "runs.hpp"
#include "same_trace.hpp"
#include "scheme/scheme.hpp"
#include "trace/reader.hpp"

namespace quorate {
namespace {

using namespace test;

constexpr auto simulated_words =
    "--rounds 30 --step 0.02 --seed 3 --row-time 1e-4 --delay exponential:0.001";

class VirtualRun : public testing::TestWithParam<Way> {
protected:
    Folder folder_;

    /// @param more  options, which replace common ones
    std::string words(const std::string& more = "",
                      const std::string& data = data_sets().dense) const
    {
        const auto& [scheme, options] = GetParam();
        return Way{scheme, options + " " + more}.words(simulated_words) + " --data " + data;
    }
    Result run(const std::string& trace, const std::string& words) const
    {
        const auto path = folder_.file(trace);
        const auto said = command("simulate --quiet --overwrite --trace " + path + " " + words);
        EXPECT_EQ(said.status, 0) << words << "\n" << said.text;
        Result result(path);
        EXPECT_EQ(trace::faults(result.trace), std::vector<std::string>{}) << words;
        return result;
    }
};

// --- again
// ----------------------------------------------------------------------------------------

using Again = VirtualRun;

TEST_P(Again, ItIsTheSameFromItsConfigurationAndFromItsTrace)
{
    const auto one = run("a.h5", words("--slowdown fixed:2,1"));
    const auto config = folder_.write("x.ini", one.trace.text("config"));
    expect_same(one, run("b.h5", "--config " + config));
    expect_same(one, run("c.h5", "--replay " + folder_.file("a.h5")), of_messages());
}

INSTANTIATE_TEST_SUITE_P(Tried, Again, testing::ValuesIn(tried_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Further, Again, testing::ValuesIn(further_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Stateful, Again, testing::ValuesIn(stateful_ways()), way_name);

// --- what it computes
// -----------------------------------------------------------------------------

using Trains = VirtualRun;

TEST_P(Trains, LossFalls)
{
    const auto one = run("a.h5", words("--step 0.1"));
    EXPECT_LT(one.trace.evaluations.back().train_loss, one.trace.evaluations.front().train_loss);
}

TEST_P(Trains, WithoutDataItTakesTheSameTime)
{
    auto way = GetParam();
    if (way.names("--byzantine") || way.names("--batch")) way.options = "";  // they need data
    way.options += " --rounds 20 --latency 1e-3 --delay pareto:1e-4,2 --row-time 1e-5";
    const auto real = run("real.h5", way.words("--seed 3") + " --data " + data_sets().dense);
    const auto trace = folder_.file("dry.h5");
    const auto said =
        command("simulate --dry --quiet --rows 203 --trace " + trace + " " + way.words("--seed 3"));
    ASSERT_EQ(said.status, 0) << said.text;
    expect_same_rows(trace::read(trace).rounds, real.trace.rounds,
                     {"samples", "step_size", "gradient_norm", "loss_estimate", "inner",
                      "bytes_sent", "bytes_received"});
}

TEST(DryRun, ItIsTheSameFromItsConfiguration)
{
    const Folder folder;
    const auto run = [&](const std::string& trace, const std::string& words) {
        const auto path = folder.file(trace);
        EXPECT_EQ(command("simulate --quiet --trace " + path + " " + words).status, 0);
        return trace::read(path);
    };
    const auto one = run("a.h5", Way{"agc", "--dry"}.words(simulated_words));
    const auto again = run("b.h5", "--config " + folder.write("x.ini", one.text("config")));
    expect_same_rows(one.rounds, again.rounds);
    expect_same_rows(one.arrivals, again.arrivals);
}

INSTANTIATE_TEST_SUITE_P(Tried, Trains, testing::ValuesIn(tried_ways()), way_name);

// --- exact codes
// ----------------------------------------------------------------------------------

using Exact = VirtualRun;

double furthest(const std::vector<double>& a, const std::vector<double>& b)
{
    if (a.size() != b.size()) return unlimited;
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
    return most;
}

TEST_P(Exact, FollowsThePathOfTheUncodedOne)
{
    const std::string options = "--workers 12 --optimizer gd --rounds 100 --step 0.5";
    const auto data = " --data " + data_sets().dense;
    const auto plain = run("a.h5", Way{"uncoded", options}.words(simulated_words) + data);
    const auto coded = run("b.h5", words("--optimizer gd --rounds 100 --step 0.5"));
    EXPECT_LE(furthest(plain.model, coded.model), 1e-7);
    for (const auto& round : coded.trace.rounds) EXPECT_LE(round.decode_error, 1e-9);
}

// Answers of other workers differ by rounding, so rounds may too, by a few.
TEST_P(Exact, LbfgsFindsTheOptimum)
{
    const auto one = run("a.h5", words("--optimizer lbfgs --stop-at gradient=1e-6 --l2 1e-3 "
                                       "--step 1 --rounds 200"));
    EXPECT_EQ(one.trace.text("stopped_at").find("gradient"), 0U);
    const auto& rounds = one.trace.rounds;
    EXPECT_LT(rounds.size(), 60U);
    // What is scored is the point that was accepted last, and its loss that which was decoded.
    std::size_t accepted = 0, next = 0;
    for (const auto& evaluation : one.trace.evaluations) {
        for (; next < static_cast<std::size_t>(evaluation.round); ++next)
            if (rounds[next].step_size > 0) accepted = next;
        EXPECT_NEAR(evaluation.train_loss, rounds[accepted].loss_estimate,
                    1e-9 * std::abs(evaluation.train_loss));
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, Exact, testing::ValuesIn(exact_ways()), way_name);

// --- estimates computed again from their weights
// ---------------------------------------------------

class Checked : public VirtualRun {
protected:
    static constexpr auto all = std::numeric_limits<std::int64_t>::max();

    /// @param trace  of weighed()
    EstimateCheck check(const trace::Trace& trace, std::int64_t rounds = all) const
    {
        return check_estimates(trace, folder_.file("a.h5"), data_sets().dense, rounds);
    }
    trace::Trace weighed() const
    {
        return run("a.h5", words("--trace-weights --evaluate-every 1")).trace;
    }
};

// The rounds that do not agree.
std::set<std::int64_t> wrong_rounds(const EstimateCheck& check)
{
    std::set<std::int64_t> wrong;
    for (const auto& one : check.rounds)
        if (!one.agrees()) wrong.insert(one.round);
    return wrong;
}

TEST_P(Checked, EachIsThatOfItsWeightsUntilOneIsChanged)
{
    if (GetParam().scheme == "robust") {  // its estimates are no weighted sums
        const auto said = command("simulate --trace-weights --trace a.h5 " + words());
        EXPECT_EQ(said.status, exit_bad_input);
        EXPECT_NE(said.text.find("no weighted sums: leave it out"), std::string::npos);
        const auto trace = run("a.h5", words()).trace;
        EXPECT_NE(refusal([&] { check(trace); }).find("quorate simulate --replay"),
                  std::string::npos);
        return;
    }
    auto trace = weighed();
    if (GetParam().options.find("lbfgs") != std::string::npos) {
        EXPECT_THROW(check(trace), BadInput);  // its points are not kept
        return;
    }
    const auto sound = check(trace);
    EXPECT_EQ(sound.possible, sound.all);
    EXPECT_EQ(std::ssize(sound.rounds), sound.all);
    for (const auto& one : sound.rounds)
        EXPECT_TRUE(one.agrees()) << "round " << one.round << ": " << one.difference << ", not "
                                  << one.bound << " " << one.why;
    // That of a contribution which is not zero. Weights that solve a least-squares problem may be.
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> samples;
    for (const auto& row : trace.arrivals) samples[{row.event, row.part}] = row.samples;
    const auto changed =
        std::find_if(trace.weights.begin() + std::ssize(trace.weights) / 2, trace.weights.end(),
                     [&](const auto& row) {
                         return std::abs(row.weight) > 1e-9 && samples[{row.event, row.part}] > 0;
                     });
    if (changed == trace.weights.end()) return;
    changed->weight *= 1.001;
    EXPECT_EQ(wrong_rounds(check(trace)), std::set{changed->round});
}

INSTANTIATE_TEST_SUITE_P(Tried, Checked, testing::ValuesIn(tried_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Further, Checked, testing::ValuesIn(further_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Eventful, Checked, testing::ValuesIn(eventful_ways()), way_name);

using CheckedOnce = Checked;

TEST_P(CheckedOnce, WhatIsChangedIsFound)
{
    const auto sound = weighed();
    const auto rounds_wrong = [&](const auto& change) {
        auto trace = sound;
        change(trace);
        return wrong_rounds(check(trace));
    };
    EXPECT_EQ(rounds_wrong([](auto&) {}), std::set<std::int64_t>{});
    // A weight that is missing, one that is there twice, and one of a late contribution.
    const auto middle = std::ssize(sound.weights) / 2;
    const auto round = sound.weights[static_cast<std::size_t>(middle)].round;
    EXPECT_EQ(
        rounds_wrong([&](auto& trace) { trace.weights.erase(trace.weights.begin() + middle); }),
        std::set{round});
    EXPECT_EQ(rounds_wrong([&](auto& trace) {
                  trace.weights.insert(trace.weights.begin() + middle,
                                       trace.weights[static_cast<std::size_t>(middle)]);
              }),
              std::set{round});
    const auto late = std::ranges::find(sound.arrivals, 0, &trace::Arrival::uses);
    ASSERT_NE(late, sound.arrivals.end());
    EXPECT_EQ(rounds_wrong([&](auto& trace) {
                  trace.weights[static_cast<std::size_t>(middle)].event = late->event;
              }),
              std::set{round});
    EXPECT_EQ(rounds_wrong([&](auto& trace) { trace.rounds[4].gradient_norm *= 1 + 1e-6; }),
              std::set<std::int64_t>{5});
    EXPECT_THROW(rounds_wrong([&](auto& trace) {
                     std::ranges::find_if(trace.arrivals, [](const auto& row) {
                         return row.version == 7 && row.uses > 0;
                     })->version = 6;
                 }),
                 Failure);
    EXPECT_EQ(std::ssize(check(sound, 4).rounds), 4);
}

TEST_P(CheckedOnce, FewerModelsGiveFewerRounds)
{
    const auto trace = run("a.h5", words("--trace-weights --evaluate-every 3")).trace;
    const auto result = check(trace);
    EXPECT_EQ(wrong_rounds(result), std::set<std::int64_t>{});
    // The first round, and those after a kept model.
    EXPECT_EQ(result.possible, 10);
    for (const auto& one : result.rounds) EXPECT_EQ(one.round % 3, 1);
}

INSTANTIATE_TEST_SUITE_P(Agc, CheckedOnce,
                         testing::Values(Way{"agc", "--stragglers 2 --optimizer gd"}), way_name);

using CheckedStates = Checked;

TEST_P(CheckedStates, AreRefused) { EXPECT_THROW(check(weighed()), BadInput); }

INSTANTIATE_TEST_SUITE_P(Ways, CheckedStates, testing::ValuesIn(stateful_ways()), way_name);

// --- nodes
// ----------------------------------------------------------------------------------------

using ByNode = VirtualRun;

// They decide from vectors, or place them: nobody else may add them up.
const std::set<std::string> need_each = {"draco-repetition", "draco-cyclic", "robust",
                                         "coded-product",    "elastic",      "short-cyclic"};

TEST_P(ByNode, ItIsFlatButForTheLastBits)
{
    const auto nodes = words("--nodes 3", data_sets().sparse);
    const auto trace = folder_.file("node.h5");
    if (need_each.contains(GetParam().scheme)) {
        const auto dense = words("--nodes 3");
        const auto said = command("simulate --aggregate node --trace " + trace + " " + dense);
        EXPECT_EQ(said.status, exit_bad_input);
        EXPECT_NE(said.text.find("needs each contribution at the coordinator"), std::string::npos);
        EXPECT_FALSE(std::filesystem::exists(trace));
        return;
    }
    const auto flat = run("flat.h5", nodes + " --aggregate flat");
    const auto node = run("node.h5", nodes + " --aggregate node");
    EXPECT_EQ(flat.trace.text("aggregate"), "flat");
    EXPECT_EQ(node.trace.text("aggregate"), "node");
    const auto shares = run("shares.h5", nodes + " --aggregate shares");
    EXPECT_TRUE(same_bits(node.iterates, shares.iterates));
    EXPECT_TRUE(same_bits(node.model, shares.model));
    double scale = 0;
    for (const auto value : flat.iterates) scale = std::max(scale, std::abs(value));
    EXPECT_LE(furthest(flat.iterates, node.iterates), 1e-12 * scale);
    // Messages take no time here.
    for (std::size_t i = 0; i < flat.trace.rounds.size(); ++i) {
        EXPECT_EQ(flat.trace.rounds[i].time, node.trace.rounds[i].time);
        EXPECT_EQ(flat.trace.rounds[i].time, shares.trace.rounds[i].time);
    }
}

TEST_P(ByNode, AReplayOfAReplayIsTheSame)
{
    if (need_each.contains(GetParam().scheme)) return;  // as above
    const auto options = "--nodes 3 --aggregate node --latency 1e-3 --bandwidth 1e5";
    const auto one = run("a.h5", words(options, data_sets().sparse));
    for (const auto& [of, to] : {std::pair{"a.h5", "b.h5"}, {"b.h5", "c.h5"}}) {
        const auto again = run(to, "--replay " + folder_.file(of));
        EXPECT_TRUE(same_bits(one.iterates, again.iterates));
        EXPECT_TRUE(same_bits(one.model, again.model));
        expect_same_rows(one.trace.workers, again.trace.workers);
        EXPECT_EQ(again.trace.text("nodes"), "node0 node1 node2");
        EXPECT_EQ(again.trace.text("aggregate"), "node");
    }
}

INSTANTIATE_TEST_SUITE_P(Tried, ByNode, testing::ValuesIn(tried_ways()), way_name);

// --- checkpoints
// ----------------------------------------------------------------------------------

using Resumed = VirtualRun;

TEST_P(Resumed, ItIsTheUnbrokenOne)
{
    const auto unbroken = run("a.h5", words());
    const Killed killed(folder_, "simulate", words());
    const auto said = killed.resume();
    ASSERT_EQ(said.status, 0) << said.text;
    const Result resumed(killed.trace);
    EXPECT_EQ(trace::faults(resumed.trace), std::vector<std::string>{});
    expect_same(unbroken, resumed);
    expect_same_rows(unbroken.trace.timers, resumed.trace.timers);
    const auto done = killed.resume();
    EXPECT_EQ(done.status, 0);
    EXPECT_NE(done.text.find("the run is complete"), std::string::npos) << done.text;
}

using ResumedWithout = VirtualRun;

// Also a run that was resumed before: its history has the loss of states.
TEST_P(ResumedWithout, ItIsThatOfItsTrace)
{
    const auto unbroken = run("a.h5", words());
    const Killed killed(folder_, "simulate", words());
    for (const auto* copy : {"b.h5", "c.h5"}) {
        const auto said = killed.resume();
        ASSERT_EQ(said.status, 0) << said.text;
        const Result resumed(killed.trace);
        EXPECT_EQ(trace::faults(resumed.trace), std::vector<std::string>{});
        expect_same(resumed, run(copy, "--replay " + killed.trace), of_messages());
        EXPECT_FALSE(same_bits(resumed.model, unbroken.model));
        killed.cut();
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, ResumedWithout, testing::ValuesIn(stateful_ways()), way_name);

TEST(Checkpoint, EveryBitIsGuarded)
{
    const Folder folder;
    const Killed killed(folder, "simulate",
                        Way{"uncoded", ""}.words(simulated_words) + " --data " + data_sets().dense);
    const auto path = folder.file("killed.checkpoint");
    std::ifstream file(path, std::ios::binary);
    const std::string content(std::istreambuf_iterator<char>(file), {});
    for (std::size_t at = 0; at < content.size(); at += content.size() / 40) {
        auto flipped = content;
        flipped[at] = static_cast<char>(flipped[at] ^ 1);
        folder.write("killed.checkpoint", flipped);
        const auto said = killed.resume();
        EXPECT_EQ(said.status, exit_bad_input) << at;
        EXPECT_NE(said.text.find("is damaged, and there is no whole one before it"),
                  std::string::npos)
            << said.text;
    }
}

INSTANTIATE_TEST_SUITE_P(Tried, Resumed, testing::ValuesIn(tried_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Further, Resumed, testing::ValuesIn(further_ways()), way_name);
INSTANTIATE_TEST_SUITE_P(Eventful, Resumed, testing::ValuesIn(eventful_ways()), way_name);

}  // namespace
}  // namespace quorate
