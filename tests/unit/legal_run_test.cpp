// SPDX-License-Identifier: BSD-2-Clause
// Every scheme of the registry against workers that finish in any order.
#include "legal_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "engine/engine.hpp"
#include "fleet/virtual_fleet.hpp"
#include "scheme/schemes.hpp"
#include "simulation.hpp"
#include "support.hpp"
#include "trace/memory.hpp"

namespace {

using namespace quorate;
using namespace test;

// What a scheme needs beside its defaults.
Options needed(const std::string& name)
{
    if (name == "amb-dg") return {{"compute-time", "2"}};
    return {};
}

std::unique_ptr<Scheme> made(const std::string& name, int n)
{
    try {
        return make_scheme(name, {n, 1000, 1}, needed(name));
    } catch (const BadInput&) {
        return nullptr;
    }
}

TEST(EveryScheme, ActsLegallyWhateverTheOrder)
{
    for (const auto& entry : schemes())
        for (const int n : {1, 4, 6, 13, 16})
            for (unsigned seed = 0; seed < 20; ++seed) {
                const auto scheme = made(entry.name, n);
                if (!scheme) continue;
                LegalRun run(*scheme, seed);
                run.run(50);
                EXPECT_EQ(run.undecodable, "") << entry.name;
                ASSERT_EQ(run.steps.size(), 50U) << entry.name << ", n = " << n;
                EXPECT_LE(run.most_alive, static_cast<std::size_t>(20 * n)) << entry.name;
                if (testing::Test::HasFailure()) FAIL() << entry.name << ", n = " << n;
            }
}

TEST(EveryScheme, WithTheSameHistoryActsTheSame)
{
    for (const auto& entry : schemes()) {
        const auto one = made(entry.name, 6), other = made(entry.name, 6);
        if (!one) continue;
        LegalRun a(*one, 5), b(*other, 5);
        a.run(30);
        b.run(30);
        EXPECT_EQ(a.log, b.log) << entry.name;
    }
}

TEST(EveryScheme, WhoseWorkersAreOutOfTimeGoesOnAllTheSame)
{
    for (const auto* name : {"amb", "anytime-sgd", "amb-dg"}) {
        const auto scheme = make_scheme(name, {4, 1000, 1}, {{"compute-time", "2"}});
        LegalRun run(*scheme, 3);
        run.empty = 0.9;
        run.run(50);
        EXPECT_EQ(run.steps.size(), 50U) << name;
    }
}

TEST(EveryScheme, WithACapOnItsSamplesAsksForAtMostItsShare)
{
    for (const auto* name : {"amb", "amb-dg"})
        for (const int cap : {4, 6, 130, 1000}) {
            const auto scheme = make_scheme(
                name, {4, 1000, 1}, {{"compute-time", "2"}, {"samples-cap", std::to_string(cap)}});
            std::vector<Action> actions;
            scheme->handle(Start{{0, 1, 2, 3}}, 0, actions);
            std::int64_t all = 0;
            for (const auto& action : actions)
                if (const auto* task = std::get_if<Dispatch>(&action)) {
                    EXPECT_EQ(task->control.budget.seconds, 2);
                    EXPECT_LE(task->control.budget.samples, 250);
                    all += task->control.budget.samples;
                }
            EXPECT_EQ(all, cap) << name;
        }
    for (const auto* name : {"amb", "amb-dg"})
        for (const auto* cap : {"4", "130"}) {
            const auto scheme =
                make_scheme(name, {4, 1000, 1}, {{"compute-time", "2"}, {"samples-cap", cap}});
            LegalRun run(*scheme, 3);
            run.empty = 0.3;
            run.run(50);
            EXPECT_EQ(run.steps.size(), 50U) << name << ", cap " << cap;
        }
}

// ---- the asynchronous family --------------------------------------------------------------------

// Mean staleness and seconds of an update, with exponential tasks of mean 1 and no draw twice.
struct Measured {
    double staleness, seconds;
};
Measured measure(const std::string& scheme, const Options& options, int n,
                 const std::string& delay = "exponential:1", std::int64_t rounds = 20000)
{
    const Problem problem{n, 10 * n, 1};
    const auto made = make_scheme(scheme, problem, options);
    const auto needs = made->needs();
    const auto stragglers = make_stragglers({{"delay", delay}}, n, 3);
    const Batches batches(needs, 1, 0);
    const ByzantineWorkers nobody;
    Recipes recipes(needs, batches, nobody, 0);
    VirtualFleet fleet(recipes, {stragglers.models(0), {}});
    std::vector<std::unique_ptr<Optimizer>> optimizers;
    optimizers.push_back(
        entry(quorate::optimizers(), "gd").make(settings(std::vector<Option>(), {}), {}, {}));
    trace::Memory memory({});
    Engine engine({.rounds = rounds, .evaluate_every = 0, .arrivals = Arrivals::none}, *made, fleet,
                  optimizers, memory);
    const std::atomic<bool> stop = false;
    engine.run(stop, {});
    const auto rounds_done = memory.take().rounds;
    double staleness = 0;
    for (const auto& round : rounds_done) staleness += round.staleness_mean;
    const auto count = static_cast<double>(rounds_done.size());
    return {staleness / count, rounds_done.back().time / count};
}

TEST(Asynchronous, StalenessIsConserved)
{
    // Each update uses K of the contributions under way.
    for (const int k : {1, 3, 8})
        for (const auto* delay : {"exponential:1", "pareto:1,2.5", "constant:1"}) {
            const Options options = {{"collect", std::to_string(k)}};
            const auto batches = measure("k-batch-async", options, 16, delay);
            EXPECT_NEAR(batches.staleness, 15.0 / k, 0.02 * 15 / k) << k << " " << delay;
            const auto workers = measure("k-async", options, 16, delay);
            EXPECT_NEAR(workers.staleness, (16.0 - k) / k, 0.02 * 16 / k) << k << " " << delay;
        }
    EXPECT_NEAR(measure("async", {}, 10).staleness, 9, 0.18);
}

TEST(Asynchronous, UpdatesComeAtTheRateOfTheWorkers)
{
    const Options four = {{"collect", "4"}};
    EXPECT_NEAR(measure("k-batch-async", four, 16).seconds, 4.0 / 16, 0.02 * 0.25);
    EXPECT_NEAR(measure("k-batch-async", four, 16, "shifted-exponential:1,1").seconds, 4 * 2.0 / 16,
                0.01);
    // Pareto of mean 2.5 / 1.5.
    EXPECT_NEAR(measure("k-batch-async", four, 16, "pareto:1,2.5").seconds, 4 * 2.5 / 1.5 / 16,
                0.01);
    EXPECT_NEAR(measure("k-batch-sync", four, 16).seconds, 4.0 / 16, 0.02 * 0.25);
    // First K of n, and K-async with exponential times: the same.
    double harmonic = 0;
    for (int j = 13; j <= 16; ++j) harmonic += 1.0 / j;
    EXPECT_NEAR(measure("k-async", four, 16).seconds, harmonic, 0.02 * harmonic);
    EXPECT_NEAR(measure("k-sync", four, 16).seconds, harmonic, 0.02 * harmonic);
    // New longer than used: K-async is faster than K-sync.
    const Options five = {{"collect", "5"}};
    EXPECT_NEAR(measure("k-async", five, 16, "shifted-exponential:0.5,0.5").seconds,
                measure("k-async", five, 16, "shifted-exponential:1,1").seconds / 2, 0.02);
    EXPECT_LT(measure("k-async", five, 16, "shifted-exponential:0.5,1").seconds, 0.75);
}

// Workers of k-batch-async in a dry run whose messages take so long.
trace::Trace messages_take(Seconds latency, const Options& more)
{
    quorate::Options all = {{"dry", "on"},
                            {"rows", "1000"},
                            {"columns", "10"},
                            {"scheme", "k-batch-async"},
                            {"collect", "7"},
                            {"workers", "10"},
                            {"row-time", "0.01"},
                            {"delay", "exponential:0.5"},
                            {"latency", std::to_string(latency)},
                            {"rounds", "80"}};
    all.insert(more.begin(), more.end());
    return simulate(make_settings(simulation_options(), all));
}

TEST(KeepGoing, WorkersAreNeverIdleThoughMessagesTakeTime)
{
    for (const auto& arrival : messages_take(3, {{"keep-going", "on"}}).arrivals)
        EXPECT_EQ(arrival.draw > 0 ? arrival.idle : 0, 0);
    for (const auto& arrival : messages_take(3, {}).arrivals)
        EXPECT_GE(arrival.draw > 0 ? arrival.idle : 6, 6 - 1e-9);
}

TEST(KeepGoing, ABatchIsAtTheNewestPointThatIsThereWhenItBegins)
{
    const auto trace = messages_take(3, {{"keep-going", "on"}});
    for (const auto& round : trace.rounds) EXPECT_LE(round.used, 7);
    std::map<std::int64_t, int> used;
    for (const auto& arrival : trace.arrivals) {
        ++used[arrival.used];
        const auto begun = arrival.arrived - 3 - arrival.compute - arrival.delay;
        const auto there = [&](std::int64_t version) {
            if (version == 0) return true;
            return version <= std::ssize(trace.rounds) &&
                   trace.rounds[static_cast<std::size_t>(version - 1)].time + 3 < begun + 1e-9;
        };
        EXPECT_TRUE(there(arrival.version)) << arrival.version << " at " << begun;
        EXPECT_FALSE(there(arrival.version + 1)) << arrival.version << " at " << begun;
    }
    for (std::int64_t round = 1; round <= std::ssize(trace.rounds); ++round)
        EXPECT_EQ(used[round], 7) << round;
}

TEST(KeepGoing, WithoutLatencyItIsTheSameScheme)
{
    const auto one = messages_take(0, {}), other = messages_take(0, {{"keep-going", "on"}});
    for (std::size_t i = 0; i < one.rounds.size(); ++i) {
        EXPECT_EQ(one.rounds[i].time, other.rounds[i].time);
        EXPECT_EQ(one.rounds[i].staleness_mean, other.rounds[i].staleness_mean);
    }
}

TEST(Asynchronous, TooStaleContributionsAreNotUsed)
{
    const auto scheme = make_scheme(AsyncOptions{.staleness_cap = 4}, {8, 1000, 1});
    LegalRun run(*scheme, 1);
    run.run(500);
    for (std::size_t step = 0; step < run.steps.size(); ++step)
        for (const auto version : run.published_at[step])
            EXPECT_LE(static_cast<Version>(step) - version, 4);
}

TEST(Asynchronous, StaleContributionsCountLess)
{
    const auto scheme = make_scheme("async", {8, 1000, 1}, {{"staleness-scale", "inverse"}});
    LegalRun run(*scheme, 1);
    run.run(300);
    for (std::size_t step = 0; step < run.steps.size(); ++step) {
        const auto stale = static_cast<Version>(step) - run.published_at[step][0];
        EXPECT_DOUBLE_EQ(run.steps[step].terms[0].weight, 1 / (1.0 + static_cast<double>(stale)));
    }
}

TEST(Asynchronous, SchedulesCountSamples)
{
    const auto scheme = make_scheme(KBatchAsyncOptions{.collect = 2}, {8, 1000, 1});
    LegalRun run(*scheme, 1);
    run.run(10);
    for (const auto& step : run.steps) EXPECT_EQ(step.share, 2.0 / 8);
}

}  // namespace
