// SPDX-License-Identifier: BSD-2-Clause
// Simulations as a function: many of them, on many threads.
#include <gtest/gtest.h>

#include <thread>

#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "data/data_set_writer.hpp"
#include "same_trace.hpp"
#include "study/balanced_shares.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using test::expect_same_rows;
using test::Folder;
using test::refusal;

Settings made(const Options& given) { return make_settings(simulation_options(), given); }

void expect_same_runs(const trace::Trace& a, const trace::Trace& b)
{
    EXPECT_EQ(a.attributes, b.attributes);
    EXPECT_EQ(a.model, b.model);
    EXPECT_EQ(a.iterates, b.iterates);
    expect_same_rows(a.rounds, b.rounds);
    expect_same_rows(a.arrivals, b.arrivals);
    expect_same_rows(a.evaluations, b.evaluations);
    expect_same_rows(a.workers, b.workers);
}

/// Simulates each of these on a thread of its own, three times over, and compares with what one
/// thread gives.
void expect_same_on_threads(const std::vector<Options>& runs)
{
    std::vector<trace::Trace> expected, got(3 * runs.size());
    for (const auto& run : runs) expected.push_back(simulate(made(run)));
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < got.size(); ++i)
            threads.emplace_back([&, i] { got[i] = simulate(made(runs[i % runs.size()])); });
    }
    for (std::size_t i = 0; i < got.size(); ++i)
        expect_same_runs(got[i], expected[i % runs.size()]);
}

TEST(Simulate, DryOnManyThreadsGivesTheSame)
{
    std::vector<Options> runs;
    for (const auto* scheme : {"uncoded", "agc", "cyclic", "m-sgc"})
        runs.push_back({{"dry", "on"},
                        {"workers", "12"},
                        {"rounds", "40"},
                        {"scheme", scheme},
                        {"delay", "exponential:1"}});
    expect_same_on_threads(runs);
}

TEST(Simulate, WithDataOnManyThreadsGivesTheSame)
{
    const Folder folder;
    const auto path = folder.file("d.h5");
    {
        DataSetWriter writer(path, "d", {.columns = 3, .dense = true}, false, false);
        for (const auto split : {Split::train, Split::test}) {
            writer.begin(split);
            for (int row = 0; row < (split == Split::train ? 60 : 20); ++row) {
                const double label = row % 2 == 0 ? 1 : -1;
                writer.add(std::vector<double>{label + 0.1 * row, 1, 0.5 * (row % 7)}, label);
            }
        }
        writer.finish({}, {});
    }
    std::vector<Options> runs;
    for (const auto* scheme : {"cyclic", "agc", "frc"})
        runs.push_back({{"data", path},
                        {"workers", "6"},
                        {"rounds", "15"},
                        {"scheme", scheme},
                        {"stragglers", "1"},
                        {"step", "0.1"},
                        {"delay", "exponential:1"}});
    expect_same_on_threads(runs);
    const auto trace = simulate(made(runs[1]));
    EXPECT_EQ(trace.status(), "completed");
    EXPECT_EQ(trace.model.size(), 3U);
    EXPECT_EQ(trace.evaluations.size(), 15U);
    EXPECT_LT(trace.evaluations.back().train_loss, trace.evaluations.front().train_loss);
}

TEST(Simulate, StopsWhenItIsTold)
{
    const std::atomic<bool> stop = true;
    const auto trace = simulate(made({{"dry", "on"}, {"workers", "4"}}), stop);
    EXPECT_EQ(trace.status(), "interrupted");
    EXPECT_TRUE(trace.rounds.empty());
}

TEST(Simulate, RefusesWhatItCannotDo)
{
    const auto refused = [](Options values) {
        values.insert({{"dry", "on"}, {"workers", "4"}});
        return refusal([&] { simulate(made(values)); });
    };
    for (const auto* name : {"checkpoint", "trace", "stop-before", "manifest"})
        EXPECT_NE(refused({{name, "x"}}).find("kept in memory only"), std::string::npos);
    EXPECT_NE(refused({{"schema", "agc"}}).find("did you mean scheme"), std::string::npos);
    EXPECT_NE(refused({{"scheme", "acg"}}).find("agc"), std::string::npos);
}

// Whose rows the estimates of a dry run leave out.
std::optional<RowUse> use_of(Options given)
{
    given.insert({{"dry", "on"}, {"workers", "6"}, {"rounds", "300"}, {"row-time", "1e-5"}});
    std::optional<RowUse> use;
    simulate(made(given), never_stop, {}, &use);
    return use;
}

TEST(RowUse, RowsOfWorkersThatAreAlwaysLateNeverCount)
{
    const Options slow = {{"scheme", "ignore"}, {"stragglers", "2"}, {"slowdown", "fixed:3,0,4"}};
    auto given = slow;
    const auto plain = use_of(given);
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->least, 0);
    EXPECT_DOUBLE_EQ(plain->rarely, 2.0 / 6);
    EXPECT_EQ(plain->holders, (std::vector<Worker>{0, 4}));
    given["weights"] = "horvitz-thompson";  // what never comes has no weight
    EXPECT_EQ(use_of(given)->least, 0);
    given = slow;
    given["reshuffle"] = "on";
    EXPECT_GT(use_of(given)->least, 0.8);
    given = slow;
    given["shares"] = "0.33,0,4";  // about as fast as the others now, and some of them come first
    given["delay"] = "exponential:0.1";
    EXPECT_GT(use_of(given)->least, 0.8);
}

TEST(RowUse, ExactEstimatesCountAllRowsAlike)
{
    for (const auto* scheme : {"uncoded", "frc", "cyclic", "partial", "pgc-cyclic", "m-sgc"}) {
        const auto use = use_of({{"scheme", scheme}, {"delay", "exponential:0.1"}});
        ASSERT_TRUE(use) << scheme;
        EXPECT_NEAR(use->least, 1, 0.02) << scheme;
        EXPECT_TRUE(use->holders.empty()) << scheme;
    }
}

TEST(RowUse, CachedGradientsCountWhileTheyAreInTheTable)
{
    const auto use = use_of({{"scheme", "dsag"}, {"slowdown", "fixed:3,0"}});
    ASSERT_TRUE(use);
    EXPECT_GT(use->least, 0.9);
}

TEST(RowUse, SlowWorkersOfAsyncCountLess)
{
    const auto use = use_of({{"scheme", "async"}, {"slowdown", "fixed:3,0"}});
    ASSERT_TRUE(use);
    EXPECT_NEAR(use->least, 6.0 / 16, 0.03);  // 1/3 of an update where the others make one
}

TEST(RowUse, IsNotKnownOfCodedStorage)
{
    EXPECT_FALSE(use_of({{"scheme", "short-cyclic"}, {"delay", "exponential:0.1"}}));
}

TEST(Simulate, OfEqualWorkersNoneIsAlwaysTheLast)
{
    const auto use = use_of({{"scheme", "ignore"}, {"stragglers", "1"}, {"delay", "constant:0.1"}});
    ASSERT_TRUE(use);
    EXPECT_GT(use->least, 0.9);
}

TEST(Shares, PartitionsHaveTheRowsOfTheirWorkersShares)
{
    const auto trace = simulate(made({{"dry", "on"},
                                      {"workers", "4"},
                                      {"rows", "1000"},
                                      {"rounds", "2"},
                                      {"shares", "0.5,1/0.25,3"}}));
    std::vector<std::int64_t> rows;
    for (const auto& worker : trace.workers) rows.push_back(worker.rows);
    EXPECT_EQ(rows, (std::vector<std::int64_t>{364, 181, 364, 91}));
    EXPECT_EQ(trace.rounds.back().samples, 1000);
    EXPECT_EQ(trace.rounds.back().decode_error, 0);
}

TEST(Shares, WhatIsNoShareIsRefused)
{
    for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
             {"0.5", "write SHARE,WORKER"},
             {"0,1", "a share above 0"},
             {"x,1", "write SHARE,WORKER"},
             {"0.5,4", "where 4 is no worker: give numbers from 0 to 3"},
             {"0.5,1/2,1", "names worker 1 twice"}})
        EXPECT_NE(refusal([&] {
                      simulate(made({{"dry", "on"}, {"workers", "4"}, {"shares", text}}));
                  }).find(why),
                  std::string::npos)
            << text;
}

TEST(Shares, ThatAreBalancedFollowTheSpeedsOfWorkers)
{
    const auto balanced = [](Options given) {
        given.insert({{"workers", "10"}, {"row-time", "1e-4"}});
        return balanced_shares(made(given), 10'000);
    };
    EXPECT_EQ(balanced({{"slowdown", "fixed:3,2,5"}}), "0.33,2,5");
    EXPECT_EQ(balanced({{"delay", "exponential:0.01"}}), "");
    EXPECT_EQ(balanced({{"row-time", "0"}}), "");
    // A delay takes no rows: 0.1 s more for worker 0 are 1,000 of some 1,100 rows.
    EXPECT_EQ(balanced({{"delay", "fixed:0.1,0"}}), "0.091,0");
}

}  // namespace
}  // namespace quorate
