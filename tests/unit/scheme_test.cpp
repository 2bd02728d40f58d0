// SPDX-License-Identifier: BSD-2-Clause
// What every scheme must do, over the registry: a new scheme is tested by being registered.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "code/fractional_repetition.hpp"
#include "scheme/scheme.hpp"

namespace {

using namespace quorate;

std::unique_ptr<Scheme> make(const std::string& name, int n, std::int64_t rows, int stragglers,
                             int collect = 0, const std::string& rescale = "coverage")
{
    Settings settings;
    settings.set("scheme", {name, "", true});
    for (const auto& option : chosen(schemes(), settings, "scheme").options)
        settings.set(option.name, {option.fallback, "", false});
    settings.set("stragglers", {std::to_string(stragglers), "", true});
    settings.set("collect", {collect ? std::to_string(collect) : "", "", true});
    settings.set("rescale", {rescale, "", true});
    return chosen(schemes(), settings, "scheme").make(settings, {n, rows});
}

struct Round {
    std::optional<Step> step;
    std::vector<Close> closed;
    int heard = 0;  // arrivals until the step
    std::map<ContributionId, Worker> sender;
};

// One round with answers in the given order of workers. @param actions  the dispatches, replaced by
// those of the next round
Round play(Scheme& scheme, std::vector<Action>& actions, const std::vector<Worker>& order,
           ContributionId& id, Version version)
{
    std::map<Worker, Dispatch> tasks;
    for (const auto& action : actions) {
        const auto& task = std::get<Dispatch>(action);
        EXPECT_EQ(task.draw, version);
        EXPECT_TRUE(tasks.emplace(task.worker, task).second);
    }
    Round round;
    actions.clear();
    for (const auto worker : order) {
        const auto& task = tasks.at(worker);
        std::vector<Action> out;
        round.sender[id] = worker;
        scheme.handle(Arrived{{{id++, worker, task.task, 0, task.draw, 1, version, version}}}, 0,
                      out);
        ++round.heard;
        for (const auto& action : out) {
            if (const auto* step = std::get_if<Step>(&action)) round.step = *step;
            if (const auto* close = std::get_if<Close>(&action)) round.closed.push_back(*close);
        }
        if (round.step) break;
    }
    if (round.step) {
        for (const auto& [worker, task] : tasks) {
            bool covered = false;
            for (const auto& close : round.closed)
                covered |= close.first <= task.task && task.task <= close.last;
            EXPECT_TRUE(covered) << "the task of worker " << worker << " stays open";
        }
        scheme.handle(Stepped{version + 1}, 0, actions);
    }
    return round;
}

std::vector<Action> begin(Scheme& scheme, int n)
{
    Start start;
    for (int i = 0; i < n; ++i) start.active.push_back(i);
    std::vector<Action> actions;
    scheme.handle(start, 0, actions);
    return actions;
}

// How often each block is in the estimate, times N / divisor: all ones for an exact scheme.
std::vector<double> weights(const Scheme& scheme, const Round& round, std::int64_t rows)
{
    const auto needs = scheme.needs();
    std::vector<double> weight(needs.blocks.size());
    std::set<ContributionId> named;
    for (const auto& term : round.step->terms) {
        EXPECT_TRUE(round.sender.contains(term.contribution)) << "a term names what never arrived";
        EXPECT_TRUE(named.insert(term.contribution).second) << "a contribution is named twice";
        for (const int block :
             needs.shard[static_cast<std::size_t>(round.sender.at(term.contribution))])
            weight[static_cast<std::size_t>(block)] +=
                term.weight * static_cast<double>(rows) / round.step->divisor;
    }
    return weight;
}

TEST(EveryScheme, HoldsEveryRowInBlocksOfEqualSize)
{
    for (const auto& entry : schemes())
        for (const int n : {6, 12}) {
            const std::int64_t rows = 10 * n + 7;
            const auto needs = make(entry.name, n, rows, 2)->needs();
            std::int64_t next = 0;
            std::set<int> held;
            for (const auto& block : needs.blocks) {
                EXPECT_EQ(block.first, next) << entry.name;
                EXPECT_LE(
                    std::abs(block.count * static_cast<std::int64_t>(needs.blocks.size()) - rows),
                    static_cast<std::int64_t>(needs.blocks.size()));
                next += block.count;
            }
            EXPECT_EQ(next, rows);
            for (const auto& shard : needs.shard) {
                EXPECT_TRUE(std::is_sorted(shard.begin(), shard.end()));
                held.insert(shard.begin(), shard.end());
            }
            EXPECT_EQ(held.size(), needs.blocks.size());
        }
}

TEST(EveryScheme, EndsEveryRoundInAnyOrderOfArrivalWithTheErrorItStates)
{
    std::mt19937 generator(1);
    for (const auto& entry : schemes())
        for (const int n : {1, 2, 6, 12}) {
            const std::int64_t rows = 100;
            const auto scheme = make(entry.name, n, rows, n >= 6 ? 2 : 0);
            auto actions = begin(*scheme, n);
            ContributionId id = 0;
            for (Version version = 0; version < 200; ++version) {
                std::vector<Worker> order(static_cast<std::size_t>(n));
                std::iota(order.begin(), order.end(), 0);
                std::shuffle(order.begin(), order.end(), generator);
                const auto round = play(*scheme, actions, order, id, version);
                ASSERT_TRUE(round.step) << entry.name << " does not step when all have answered";
                double error = 0;
                for (const double weight : weights(*scheme, round, rows))
                    error += (weight - 1) * (weight - 1);
                EXPECT_NEAR(round.step->error, error, 1e-9) << entry.name;
                ASSERT_EQ(actions.size(), static_cast<std::size_t>(n));
            }
        }
}

TEST(EveryScheme, IgnoresALateAnswerOfAClosedRoundNotDelivered)
{
    // The engine drops what belongs to a closed task, so a round after another is the same as alone.
    for (const auto& entry : schemes()) {
        const auto scheme = make(entry.name, 6, 60, 1);
        auto actions = begin(*scheme, 6);
        ContributionId id = 0;
        const auto first = play(*scheme, actions, {5, 3, 1, 0, 2, 4}, id, 0);
        const auto second = play(*scheme, actions, {5, 3, 1, 0, 2, 4}, id, 1);
        EXPECT_EQ(first.heard, second.heard);
        EXPECT_EQ(first.step->terms.size(), second.step->terms.size());
        EXPECT_EQ(first.step->divisor, second.step->divisor);
    }
}

TEST(Uncoded, WaitsForAll)
{
    const auto scheme = make("uncoded", 5, 50, 0);
    auto actions = begin(*scheme, 5);
    ContributionId id = 0;
    EXPECT_FALSE(play(*scheme, actions, {4, 3, 2, 1}, id, 0).step);
}

TEST(Frc, IsExactForEveryPatternOfStragglers)
{
    constexpr int n = 12;
    for (const int d : {1, 2, 3, 4, 6, 12})
        for (int dead = 0; dead < (1 << n); ++dead) {
            std::vector<Worker> alive;
            for (int i = 0; i < n; ++i)
                if (!(dead >> i & 1)) alive.push_back(i);
            if (static_cast<int>(alive.size()) < n - d + 1) continue;
            const auto scheme = make("frc", n, 1000, d - 1);
            auto actions = begin(*scheme, n);
            ContributionId id = 0;
            const auto round = play(*scheme, actions, alive, id, 0);
            ASSERT_TRUE(round.step) << "d = " << d << ", dead " << dead;
            for (const double weight : weights(*scheme, round, 1000)) ASSERT_NEAR(weight, 1, 1e-12);
            ASSERT_EQ(round.step->error, 0);
        }
}

TEST(Frc, WaitsWhenAWholeGroupIsMissing)
{
    const auto scheme = make("frc", 6, 60, 2);
    auto actions = begin(*scheme, 6);
    ContributionId id = 0;
    EXPECT_FALSE(play(*scheme, actions, {3, 4, 5}, id, 0).step);
}

TEST(Agc, StopsAtWhicheverComesFirst)
{
    struct Case {
        std::vector<Worker> order;
        int heard;   // answers until the step
        int groups;  // groups in it
    };
    // Two groups of three, collect 2.
    for (const auto& one : {Case{{0, 1, 3}, 2, 1},  // the second answer, one group missing
                            Case{{0, 3, 1}, 2, 2},  // both at once
                            Case{{5, 4, 3, 0}, 2, 1}}) {
        const auto scheme = make("agc", 6, 60, 2, 2);
        auto actions = begin(*scheme, 6);
        ContributionId id = 0;
        const auto round = play(*scheme, actions, one.order, id, 0);
        EXPECT_EQ(round.heard, one.heard);
        EXPECT_EQ(round.step->terms.size(), static_cast<std::size_t>(one.groups));
    }
    // Coverage first: collect 5, all groups after two.
    const auto scheme = make("agc", 6, 60, 2, 5);
    auto actions = begin(*scheme, 6);
    ContributionId id = 0;
    EXPECT_EQ(play(*scheme, actions, {2, 4, 0, 1, 3, 5}, id, 0).heard, 2);
}

TEST(Agc, WithAllAnswersIsFrc)
{
    const auto agc = make("agc", 12, 100, 2, 12), frc = make("frc", 12, 100, 2);
    auto a = begin(*agc, 12), b = begin(*frc, 12);
    ContributionId i = 0, j = 0;
    const std::vector<Worker> order = {11, 10, 9, 0, 1, 3, 4, 5, 2, 8, 7, 6};
    const auto x = play(*agc, a, order, i, 0), y = play(*frc, b, order, j, 0);
    EXPECT_EQ(x.heard, y.heard);
    EXPECT_EQ(x.step->divisor, y.step->divisor);
    EXPECT_EQ(x.step->terms.size(), y.step->terms.size());
}

TEST(Agc, ScalesByCoverageUnlessToldNotTo)
{
    for (const auto* rescale : {"coverage", "none"}) {
        const auto scheme = make("agc", 6, 60, 2, 1, rescale);
        auto actions = begin(*scheme, 6);
        ContributionId id = 0;
        const auto round = play(*scheme, actions, {0}, id, 0);
        EXPECT_EQ(round.step->divisor, std::string(rescale) == "none" ? 60 : 30);
    }
}

TEST(Agc, CoversTheFractionOfTheFormula)
{
    const struct {
        int n, d, m;
        double covered;
    } cases[] = {{30, 3, 15, 0.888}, {30, 5, 10, 0.891}, {30, 2, 20, 0.897}, {12, 3, 6, 0.909}};
    std::mt19937 generator(3);
    for (const auto& one : cases) {
        const auto scheme = make("agc", one.n, 300, one.d - 1, one.m);
        auto actions = begin(*scheme, one.n);
        ContributionId id = 0;
        double covered = 0;
        constexpr int rounds = 20000;
        std::vector<Worker> order(static_cast<std::size_t>(one.n));
        std::iota(order.begin(), order.end(), 0);
        for (Version version = 0; version < rounds; ++version) {
            std::shuffle(order.begin(), order.end(), generator);
            covered +=
                static_cast<double>(play(*scheme, actions, order, id, version).step->terms.size());
        }
        EXPECT_NEAR(covered / rounds / (one.n / one.d), one.covered, 0.01 * one.covered);
    }
}

TEST(Repetition, SaysWhatWouldDivide)
{
    try {
        make("agc", 30, 300, 3);
        FAIL();
    } catch (const BadInput& error) {
        EXPECT_STREQ(error.what(),
                     "--stragglers is 3, but stragglers + 1 = 4 does not divide the 30 workers: "
                     "try --stragglers 2 or 4, "
                     "or 28 or 32 workers");
    }
}

}  // namespace
