// SPDX-License-Identifier: BSD-2-Clause
// DSAG: its cache, its rounds, and its trajectories against a reference.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "legal_run.hpp"
#include "run/needed_memory.hpp"
#include "scheme/cached/interval_cache.hpp"
#include "scheme/schemes.hpp"
#include "simulation.hpp"
#include "support.hpp"
#include "tiny.hpp"
#include "trace/reader.hpp"

namespace quorate {
namespace {

using test::Folder;
using test::LegalRun;
using test::make_scheme;
using test::refusal;
using Weights = std::array<double, 3>;

// ---- the cache ----------------------------------------------------------------------------------

CachedInterval interval(int first, int count, Version version, TaskId task)
{
    return {first, count, version, task, task, 10 * count, 10 * count};
}

TEST(IntervalCache, NewerIntervalsEvictAllThatTheyOverlapWhole)
{
    IntervalCache cache(2);
    std::vector<CachedInterval> evicted;
    EXPECT_TRUE(cache.insert(1, interval(0, 6, 0, 0), evicted));
    EXPECT_TRUE(cache.insert(1, interval(6, 6, 1, 1), evicted));
    EXPECT_TRUE(evicted.empty());
    EXPECT_EQ(cache.rows(), 120);
    EXPECT_TRUE(cache.insert(1, interval(4, 4, 2, 2), evicted));
    EXPECT_EQ(evicted.size(), 2U);
    EXPECT_EQ(cache.rows(), 40);
    EXPECT_EQ(cache.size(), 1);
}

TEST(IntervalCache, AnswersThatAreNotNewerThanAllTheyOverlapChangeNothing)
{
    IntervalCache cache(1);
    std::vector<CachedInterval> evicted;
    cache.insert(0, interval(0, 6, 3, 0), evicted);
    cache.insert(0, interval(6, 6, 5, 1), evicted);
    EXPECT_FALSE(cache.insert(0, interval(4, 4, 4, 2), evicted));
    EXPECT_FALSE(cache.insert(0, interval(0, 6, 3, 3), evicted));
    EXPECT_TRUE(evicted.empty());
    EXPECT_EQ(cache.rows(), 120);
    cache.evict_older(0, 4, evicted);
    EXPECT_EQ(evicted.size(), 1U);
    EXPECT_EQ(cache.rows(), 60);
}

// ---- trajectories -------------------------------------------------------------------------------

// Least squares with 24 rows of 3 columns; a task takes each worker always as long.
class DsagOnTiny : public ::testing::Test {
protected:
    DsagOnTiny()
    {
        test::write_tiny(folder_.file("tiny.h5"));
        folder_.write("times.csv", "worker,round,seconds\n0,0,1.0\n1,0,1.3\n2,0,2.9\n");
    }

    trace::Trace run(std::int64_t rounds, const Options& more) const
    {
        Options all = {{"data", folder_.file("tiny.h5")},
                       {"model", "ridge"},
                       {"optimizer", "gd"},
                       {"schedule", "constant"},
                       {"step", "1"},
                       {"l2", "0"},
                       {"workers", "3"},
                       {"rounds", std::to_string(rounds)},
                       {"scheme", "dsag"},
                       {"subpartitions", "2"},
                       {"collect", "2"},
                       {"delay", "trace:" + folder_.file("times.csv")}};
        for (const auto& [name, value] : more) {
            all.insert_or_assign(name, value);
            if (value.empty()) all.erase(name);
        }
        return simulate(make_settings(simulation_options(), all));
    }

    static void expect_model(const trace::Trace& trace, const Weights& model)
    {
        ASSERT_EQ(trace.model.size(), 3U);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(trace.model[i], model[i], 1e-12) << i;
    }
    static double distance(const trace::Trace& trace, const Weights& from)
    {
        double sum = 0;
        for (std::size_t i = 0; i < 3; ++i)
            sum += (trace.model[i] - from[i]) * (trace.model[i] - from[i]);
        return std::sqrt(sum);
    }

    Folder folder_;
    static constexpr Weights optimum = {-.0265960128981462, -.0143710826746402, .29747919974876};
};

TEST_F(DsagOnTiny, FollowsTheReference)
{
    struct Row {
        std::int64_t rounds;
        double time, covered;
        std::int64_t oldest;
        Weights model;
    };
    const Row rows[] = {
        {1, 1.326, 1.0 / 3, 0, {-.0431818181818182, .0347402597402598, .00551948051948052}},
        {3, 3.978, 5.0 / 6, 2, {-.103956937969738, .0869271203853349, .108958580362077}},
        {5, 6.63, 1, 4, {-.128595908367967, .0828875549534003, .18301664334064}},
        {10, 13.26, 1, 5, {-.0969937679602828, .0239138315019485, .242383113801936}},
        {50, 66.29, 1, 6, {-.0269543227549175, -.0142092016929736, .297083228862457}}};
    for (const auto& row : rows) {
        const auto trace = run(row.rounds, {});
        SCOPED_TRACE(row.rounds);
        expect_model(trace, row.model);
        const auto& last = trace.rounds.back();
        EXPECT_NEAR(last.time, row.time, 0.005);
        EXPECT_EQ(last.samples, std::llround(24 * row.covered));
        EXPECT_NEAR(last.decode_error, 6 * (1 - row.covered) / row.covered, 1e-12);
        EXPECT_EQ(last.staleness_max, row.oldest);
        EXPECT_EQ(trace::faults(trace), std::vector<std::string>());
    }
    EXPECT_NEAR(distance(run(200, {}), optimum), 2.4e-12, 1e-12);
}

TEST_F(DsagOnTiny, WithoutMarginStepsAreAtTheLastFreshAnswer)
{
    const auto trace = run(20, {{"margin", "0"}});
    EXPECT_NEAR(trace.rounds.back().time, 26, 1e-9);
    expect_model(trace, {-.0430346144218969, -.00686774461084779, .278541544520321});
    EXPECT_NEAR(distance(run(200, {{"margin", "0"}}), optimum), 1.7e-12, 1e-12);
}

TEST_F(DsagOnTiny, WithoutStaleAnswersItIsSagWhichIsBiased)
{
    const auto trace = run(10, {{"stale", "drop"}});
    expect_model(trace, {-.118365389915656, .149709390366297, .170354542622497});
    EXPECT_EQ(trace.rounds.back().samples, 16);
    const auto later = run(2000, {{"stale", "drop"}});
    EXPECT_NEAR(distance(later, {-.0977849905697619, .145730075880521, .201640422825562}), 0, 1e-9);
    EXPECT_NEAR(distance(later, optimum), .1997, 1e-4);
}

TEST_F(DsagOnTiny, WaitingForAllItIsSagWhateverComesOfStaleAnswers)
{
    const Weights sag = {-.0846771757544426, .0164903828859611, .175773082488161};
    expect_model(run(5, {{"collect", "3"}}), sag);
    expect_model(run(5, {{"collect", "3"}, {"stale", "drop"}}), sag);
    expect_model(run(5, {{"collect", "3"}, {"estimator", "saga"}}),
                 {-.0746694470053361, .0153579274971289, .160318851718077});
}

TEST_F(DsagOnTiny, WaitingForAllWithWholeShardsItIsUncodedToTheBit)
{
    const auto ours = run(30, {{"collect", "3"}, {"subpartitions", "1"}});
    const auto exact = run(30, {{"scheme", "uncoded"}, {"collect", ""}, {"subpartitions", ""}});
    EXPECT_EQ(ours.model, exact.model);
    ASSERT_EQ(ours.rounds.size(), exact.rounds.size());
    for (std::size_t i = 0; i < ours.rounds.size(); ++i) {
        EXPECT_EQ(ours.rounds[i].time, exact.rounds[i].time);
        EXPECT_EQ(ours.rounds[i].loss_estimate, exact.rounds[i].loss_estimate);
    }
}

TEST_F(DsagOnTiny, TheOrderOfArrivalChangesNoBit)
{
    const auto trace = run(20, {{"collect", "3"}});
    for (const auto* seed : {"1", "2", "3"})
        EXPECT_EQ(run(20, {{"collect", "3"}, {"delay", "exponential:1"}, {"seed", seed}}).model,
                  trace.model);
}

TEST_F(DsagOnTiny, CachesOfWorkersConvergeToo)
{
    const auto trace = run(300, {{"cache", "worker"}});
    EXPECT_NEAR(distance(trace, optimum), 0, 1e-9);
    EXPECT_EQ(trace.text("kept"), "3");
    EXPECT_EQ(trace.text("slots"), "3");
    EXPECT_EQ(trace.text("kept_points"), "3");
    EXPECT_EQ(trace.text("kept_bytes"),
              std::to_string((3 + 1 + 3) * 3 * 8));  // their sum, and points
    EXPECT_EQ(run(1, {}).text("kept"), "6");
}

TEST_F(DsagOnTiny, EntriesThatAreTooOldAreLeftOut)
{
    // Worker 2 needs 2.9 s for a task of which each round takes 1.3: it is never in time.
    const auto trace = run(60, {{"staleness-cap", "4"}, {"margin", "0"}});
    for (const auto& round : trace.rounds) EXPECT_LE(round.staleness_max, 4);
    std::int64_t left_out = 0;
    for (const auto& round : trace.rounds) left_out += round.samples < 24;
    EXPECT_GT(left_out, 10);
}

// ---- rounds -------------------------------------------------------------------------------------

TEST(Dsag, MoreAnswersAreTakenWithinTheMargin)
{
    const Folder folder;
    folder.write("times.csv", "worker,round,seconds\n0,0,1\n1,0,2\n2,0,2.03\n3,0,3\n");
    const auto first = [&](const char* margin) {
        const Options options = {{"dry", "on"},
                                 {"rows", "8"},
                                 {"workers", "4"},
                                 {"rounds", "1"},
                                 {"scheme", "dsag"},
                                 {"collect", "2"},
                                 {"margin", margin},
                                 {"subpartitions", "1"},
                                 {"delay", "trace:" + folder.file("times.csv")}};
        return simulate(make_settings(simulation_options(), options)).rounds.at(0);
    };
    EXPECT_EQ(first("0").used, 2);
    EXPECT_EQ(first("0").time, 2);
    EXPECT_EQ(first("0.02").used, 3);
    EXPECT_NEAR(first("0.02").time, 2.04, 1e-12);
    // All have answered: the round ends at once.
    EXPECT_EQ(first("9").used, 4);
    EXPECT_EQ(first("9").time, 3);
}

TEST(Dsag, SagaCountsChangesSoThatEachPartitionCountsOnce)
{
    const auto scheme = make_scheme(
        "dsag", {4, 1200, 1},
        {{"collect", "2"}, {"subpartitions", "3"}, {"estimator", "saga"}, {"order", "random"}});
    LegalRun run(*scheme, 7);
    run.run(200);
    int saga = 0;
    for (const auto& step : run.steps) {
        double sum = 0;
        bool changes = false;
        for (const auto& term : step.terms) {
            sum += term.weight;
            changes |= !term.keep;
        }
        saga += changes;
        if (changes) {
            EXPECT_NEAR(sum, 12, 1e-9);
        }
    }
    EXPECT_GT(saga, 150);
}

// Of P partitions, all subsets of r alike, with scalar gradients: `now` at the newest point,
// `cached` before.
TEST(Dsag, SagaIsUnbiasedAndSagIsNotOverRandomSubsets)
{
    const std::vector<double> now = {3, -1, 4, 1, -5, 9}, cached = {2, 6, -5, 3, 5, -8};
    const int p = 6;
    double sum = 0, all_cached = 0, changes = 0, squares = 0;
    for (std::size_t j = 0; j < 6; ++j) {
        sum += now[j];
        all_cached += cached[j];
        changes += now[j] - cached[j];
    }
    for (std::size_t j = 0; j < 6; ++j) squares += std::pow(now[j] - cached[j] - changes / p, 2);
    for (int r = 1; r <= p; ++r) {
        double saga = 0, saga_squares = 0, sag = 0;
        int sets = 0;
        for (unsigned set = 0; set < 64; ++set) {
            if (std::popcount(set) != r) continue;
            double renewed = 0;
            for (unsigned j = 0; j < 6; ++j)
                if ((set >> j & 1) != 0) renewed += now[j] - cached[j];
            const double estimate = all_cached + static_cast<double>(p) / r * renewed;
            saga += estimate;
            saga_squares += (estimate - sum) * (estimate - sum);
            sag += all_cached + renewed;
            ++sets;
        }
        EXPECT_NEAR(saga / sets, sum, 1e-12) << r;
        const double variance =
            p * p * (1 - static_cast<double>(r) / p) / (r * (p - 1.0)) * squares;
        EXPECT_NEAR(saga_squares / sets, variance, 1e-9) << r;
        EXPECT_NEAR(sag / sets - sum, -(1 - static_cast<double>(r) / p) * changes, 1e-12) << r;
    }
}

TEST(Dsag, SaysWhatItIsStableFor)
{
    const auto needs =
        make_scheme(DsagOptions{.collect = 4, .subpartitions = 3}, {8, 960, 1})->needs();
    EXPECT_DOUBLE_EQ(needs.stable_step, .804);
    EXPECT_EQ(needs.kept, 24);
    EXPECT_EQ(needs.points, 24);  // fewer than a staleness cap of 4 * 3 * 8 / 4 allows, and one
    EXPECT_EQ(
        make_scheme(DsagOptions{.cache = DsagOptions::Cache::worker}, {8, 960, 1})->needs().kept,
        8);
    const auto exact =
        make_scheme(DsagOptions{.collect = 8, .subpartitions = 1}, {8, 960, 1})->needs();
    EXPECT_DOUBLE_EQ(exact.stable_step, 2);
    EXPECT_EQ(exact.staleness, 0);
    EXPECT_EQ(
        make_scheme(DsagOptions{.estimator = DsagOptions::Estimator::saga}, {8, 960, 1})->warning(),
        "--estimator saga is unbiased only if subpartitions come in random order: add "
        "--order random");
}

TEST(Dsag, TakesMemoryForWhatItKeepsAtMost)
{
    // A contribution has no more elements than its worker's rows have entries, nor than there are
    // parameters.
    EXPECT_EQ(bytes_of_kept(100, 1000, 50, 4), 100 * 200 * 8);
    EXPECT_EQ(bytes_of_kept(100, 1000, 50, 40), 100 * 1000 * 8);
    EXPECT_EQ(bytes_of_kept(100, 1000, 50, 0), 100 * 1000 * 8);
    EXPECT_EQ((Needs{.blocks = {}, .shard = {}, .coded = {}, .kept = 7}.points_of_kept()), 7);
    EXPECT_EQ(
        (Needs{.blocks = {}, .shard = {}, .coded = {}, .kept = 7, .points = 3}.points_of_kept()),
        3);
    EXPECT_EQ(
        (Needs{.blocks = {}, .shard = {}, .coded = {}, .kept = 7, .points = 9}.points_of_kept()),
        7);
}

TEST(Dsag, RefusesWhatCannotBe)
{
    const auto refused = [](const test::Options& options) {
        return refusal([&] { make_scheme("dsag", {4, 40, 1}, options); });
    };
    EXPECT_EQ(refused({{"subpartitions", "11"}}), "--subpartitions is 11: use at most 10");
    EXPECT_EQ(refused({{"collect", "5"}}), "--collect is 5: use at most 4");
    EXPECT_EQ(refused({{"staleness-cap", "19"}}), "--staleness-cap is 19: use at least 20");
    EXPECT_NE(refused({{"margin", "-1"}}).find("--margin is -1"), std::string::npos);
    EXPECT_NE(refused({{"cache", "worker"}, {"estimator", "saga"}}).find("--estimator is saga"),
              std::string::npos);
    EXPECT_NE(refused({{"cache", "worker"}, {"balance", "equal"}}).find("--balance is equal"),
              std::string::npos);
    EXPECT_NE(refused({{"cache", "worker"}, {"order", "random"}}).find("--order is random"),
              std::string::npos);
}

}  // namespace
}  // namespace quorate
