// SPDX-License-Identifier: BSD-2-Clause
// Simulations as a function: many of them, on many threads.
#include <gtest/gtest.h>

#include <thread>

#include "data/data_set_writer.hpp"
#include "driver/simulation.hpp"
#include "same_trace.hpp"
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

/// Simulates each of these on a thread of its own, three times over, and compares with what one thread gives.
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

}  // namespace
}  // namespace quorate
