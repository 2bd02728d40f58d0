// SPDX-License-Identifier: BSD-2-Clause
// What every scheme must do, over the registry: a new scheme is tested by being registered.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "base/error.hpp"
#include "patterns.hpp"
#include "quorate/quorate.hpp"
#include "scheme/schemes.hpp"
#include "simulation.hpp"
#include "support.hpp"

namespace {

using namespace quorate;

using namespace test;

std::unique_ptr<Scheme> make(const std::string& name, int n, std::int64_t rows,
                             const Options& given = {})
{
    return make_scheme(name, {n, rows, 1}, given);
}

std::unique_ptr<Scheme> make(const std::string& name, int n, std::int64_t rows, int stragglers)
{
    return make(name, n, rows, Options{{"stragglers", std::to_string(stragglers)}});
}

// Whether it gives every worker a task, steps when all have answered, ends the tasks of others, and
// begins again.
bool has_rounds(const std::string& name);

// The numbers of workers, of those tried, that a scheme accepts with its defaults.
std::vector<int> sizes(const std::string& name)
{
    std::vector<int> good;
    for (const int n : {1, 2, 3, 4, 6, 7, 9, 10, 12, 13, 16, 25, 30}) try {
            make(name, n, 1000);
            good.push_back(n);
        } catch (const BadInput&) {
        }
    return good;
}

struct Round {
    std::optional<Step> step;
    bool undecodable = false;
    std::vector<Close> closed;
    int received = 0;  // workers until the step
    std::map<ContributionId, Part> sent;
    std::map<ContributionId, Worker> sender;
};

// What the engine would measure of an honest contribution, for a gradient of one number a block.
double projection(const Part& part)
{
    double sum = 0;
    for (const auto& item : part.items) sum += item.coefficient * (1 + 0.1 * item.block);
    return sum;
}

std::int64_t rows_of(const Scheme& scheme, const Part& part)
{
    const auto needs = scheme.needs();
    std::int64_t rows = 0;
    for (const auto& item : part.items)
        rows += needs.blocks[static_cast<std::size_t>(item.block)].count;
    return rows;
}

enum class Corruption { other, flip, nan };

struct Circumstances {
    std::vector<Seconds> at = {};  // when those in the order answer, from the start of the round
    Seconds began = 0;
    std::set<Worker> byzantine = {};
    Corruption corruption = Corruption::other;
};

// One round with answers in the given order of workers. @param actions  the dispatches, replaced by
// those of the next round
Round play(Scheme& scheme, std::vector<Action>& actions, const std::vector<Worker>& order,
           ContributionId& id, Version version, const Circumstances& how = {})
{
    std::map<Worker, Dispatch> tasks;
    for (const auto& action : actions)
        if (const auto* task = std::get_if<Dispatch>(&action)) {
            EXPECT_EQ(task->control.draw, version);
            EXPECT_TRUE(tasks.emplace(task->worker, *task).second);
        }
    Round round;
    actions.clear();
    for (const auto worker : order) {
        const auto& task = tasks.at(worker);
        const auto& parts = task.plan->parts;
        std::vector<Arrived> messages(task.plan->each_when_ready ? parts.size() : 1);
        for (std::size_t part = 0; part < parts.size(); ++part) {
            round.sent[id] = parts[part];
            round.sender[id] = worker;
            Contribution one{{.worker = worker,
                              .part = static_cast<int>(part),
                              .task = task.task,
                              .draw = version,
                              .samples = rows_of(scheme, parts[part]),
                              .oldest = version,
                              .newest = version},
                             id++};
            one.fingerprint = std::hash<const Part*>()(&parts[part]);
            one.projection = projection(parts[part]);
            if (how.byzantine.contains(worker)) {
                one.fingerprint += static_cast<std::uint64_t>(worker) + 1;
                one.projection = how.corruption == Corruption::nan ? std::nan("")
                                 : how.corruption == Corruption::flip
                                     ? -one.projection
                                     : worker + 0.1 * static_cast<double>(part);
            }
            messages[task.plan->each_when_ready ? part : 0].contributions.push_back(one);
        }
        const Seconds now =
            how.began + (how.at.empty() ? 0 : how.at[static_cast<std::size_t>(round.received)]);
        ++round.received;
        for (const auto& message : messages) {
            std::vector<Action> out;
            scheme.handle(message, now, out);
            for (const auto& action : out) {
                if (const auto* step = std::get_if<Step>(&action)) round.step = *step;
                if (const auto* close = std::get_if<Close>(&action)) round.closed.push_back(*close);
                round.undecodable |= std::holds_alternative<Undecodable>(action);
            }
            if (round.step) break;
        }
        if (round.step) break;
    }
    if (round.step) {
        const Seconds ended =
            how.began + (how.at.empty() ? 0 : how.at[static_cast<std::size_t>(round.received - 1)]);
        scheme.handle(Stepped{.version = version + 1, .inner_with_last = 1}, ended, actions);
        for (const auto& action : actions)
            if (const auto* close = std::get_if<Close>(&action)) round.closed.push_back(*close);
        for (const auto& [worker, task] : tasks) {
            bool covered = false;
            for (const auto& close : round.closed)
                covered |= close.first <= task.task && task.task <= close.last;
            EXPECT_TRUE(covered) << "the task of worker " << worker << " stays open";
        }
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
    std::vector<double> weight(scheme.needs().blocks.size());
    std::set<ContributionId> named;
    for (const auto& term : round.step->terms) {
        EXPECT_TRUE(round.sent.contains(term.contribution)) << "a term names what never arrived";
        EXPECT_TRUE(named.insert(term.contribution).second) << "a contribution is named twice";
        for (const auto& item : round.sent.at(term.contribution).items) {
            const auto block = static_cast<std::size_t>(item.block);
            // Displacements stand for their blocks as a whole.
            const auto of = round.step->displacement
                                ? static_cast<double>(scheme.needs().blocks[block].count)
                                : 1;
            weight[block] += item.coefficient * term.weight * static_cast<double>(rows) / of /
                             round.step->divisor;
        }
    }
    // Of folded gradients the first piece.
    for (const auto& term : round.step->placed) {
        if (term.at != 0) continue;
        EXPECT_TRUE(round.sent.contains(term.contribution)) << "a term names what never arrived";
        EXPECT_TRUE(named.insert(term.contribution).second) << "a contribution is placed twice";
        const auto& part = round.sent.at(term.contribution);
        for (std::size_t i = 0; i < part.items.size(); ++i)
            weight[static_cast<std::size_t>(part.items[i].block)] +=
                part.fold[i * (part.fold.size() / part.items.size())] * term.weight *
                static_cast<double>(rows) / round.step->divisor;
    }
    return weight;
}

std::vector<Worker> shuffled(int n, std::mt19937& generator)
{
    std::vector<Worker> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), generator);
    return order;
}

TEST(EveryScheme, AcceptsSomeNumbersOfWorkersWithItsDefaults)
{
    for (const auto& entry : schemes()) EXPECT_GE(sizes(entry.name).size(), 2u) << entry.name;
}

TEST(EveryScheme, HoldsEveryRowInBlocksOfEqualSizeAndComputesOnlyWhatItHolds)
{
    for (const auto& entry : schemes())
        for (const int n : sizes(entry.name)) {
            const std::int64_t rows = 100 * n + 7;
            const auto scheme = make(entry.name, n, rows);
            const auto needs = scheme->needs();
            if (!needs.coded.empty()) continue;  // elastic_test.cpp
            std::int64_t next = 0;
            std::set<int> held;
            for (const auto& block : needs.blocks) {
                EXPECT_EQ(block.first, next) << entry.name;
                EXPECT_GT(block.count, 0) << entry.name;
                if (entry.name == "m-sgc") {  // two kinds of chunks
                    next += block.count;
                    continue;
                }
                EXPECT_LE(
                    std::abs(block.count * static_cast<std::int64_t>(needs.blocks.size()) - rows),
                    static_cast<std::int64_t>(needs.blocks.size()))
                    << entry.name;
                next += block.count;
            }
            EXPECT_EQ(next, rows);
            ASSERT_EQ(needs.shard.size(), static_cast<std::size_t>(n));
            for (const auto& shard : needs.shard) {
                EXPECT_TRUE(std::is_sorted(shard.begin(), shard.end()));
                held.insert(shard.begin(), shard.end());
            }
            EXPECT_EQ(held.size(), needs.blocks.size()) << entry.name << ", n = " << n;
            for (const auto& action : begin(*scheme, n))
                if (const auto* task = std::get_if<Dispatch>(&action))
                    for (const auto& part : task->plan->parts) {
                        EXPECT_TRUE(std::ranges::is_sorted(part.items, {}, &Item::block));
                        for (const auto& item : part.items)
                            EXPECT_TRUE(std::ranges::binary_search(
                                needs.shard[static_cast<std::size_t>(task->worker)], item.block))
                                << entry.name;
                    }
        }
}

bool has_rounds(const std::string& name)
{
    const int n = sizes(name).back();
    const auto scheme = make(name, n, 1000);
    const auto actions = begin(*scheme, n);
    std::vector<Action> out;
    ContributionId id = 0;
    for (const auto& action : actions)
        if (const auto* task = std::get_if<Dispatch>(&action)) {
            // Who is late goes on with it.
            if (task->control.begin == TaskControl::Begin::after) return false;
            if (task->control.draw < 0) return false;
            Arrived all;
            for (int part = 0; part < std::ssize(task->plan->parts); ++part)
                all.contributions.push_back({{.worker = task->worker,
                                              .part = part,
                                              .task = task->task,
                                              .draw = 0,
                                              .samples = 1,
                                              .oldest = 0,
                                              .newest = 0},
                                             id++});
            if (out.empty()) scheme->handle(all, 0, out);
        }
    return std::ranges::any_of(out, [](const auto& a) { return std::holds_alternative<Step>(a); });
}

TEST(EveryScheme, EndsEveryRoundInAnyOrderOfArrivalWithTheErrorItStates)
{
    std::mt19937 generator(1);
    for (const auto& entry : schemes())
        for (const int n : has_rounds(entry.name) ? sizes(entry.name) : std::vector<int>()) {
            const std::int64_t rows = 1000;
            const auto scheme = make(entry.name, n, rows);
            auto actions = begin(*scheme, n);
            ContributionId id = 0;
            for (Version version = 0; version < 200; ++version) {
                const auto round = play(*scheme, actions, shuffled(n, generator), id, version);
                ASSERT_TRUE(round.step) << entry.name << " does not step when all have answered";
                ASSERT_FALSE(round.undecodable);
                double error = 0;
                for (const double weight : weights(*scheme, round, rows))
                    error += (weight - 1) * (weight - 1);
                EXPECT_NEAR(round.step->error, error, 1e-9 * (1 + error))
                    << entry.name << ", n = " << n;
                ASSERT_GE(actions.size(), static_cast<std::size_t>(n));
            }
        }
}

TEST(EveryScheme, ItsActionsAreAFunctionOfTheEvents)
{
    // Two objects with the same history act alike: nothing is drawn from a clock or shared state.
    for (const auto& entry : schemes()) {
        if (!has_rounds(entry.name)) continue;  // those without: legal_run_test.cpp
        const int n = sizes(entry.name).back();
        const auto one = make(entry.name, n, 1000), other = make(entry.name, n, 1000);
        auto a = begin(*one, n), b = begin(*other, n);
        ContributionId i = 0, j = 0;
        std::mt19937 generator(2);
        for (Version version = 0; version < 20; ++version) {
            const auto order = shuffled(n, generator);
            const auto x = play(*one, a, order, i, version), y = play(*other, b, order, j, version);
            ASSERT_EQ(x.received, y.received) << entry.name;
            ASSERT_EQ(x.step->divisor, y.step->divisor);
            ASSERT_EQ(x.step->terms.size(), y.step->terms.size());
            for (std::size_t t = 0; t < x.step->terms.size(); ++t) {
                EXPECT_EQ(x.step->terms[t].contribution, y.step->terms[t].contribution);
                EXPECT_EQ(x.step->terms[t].weight, y.step->terms[t].weight);
            }
        }
    }
}

TEST(EveryScheme, WithADeadlineStepsAtItOrAtTheFirstAnswerAfterIt)
{
    for (const auto& entry : schemes()) {
        if (!std::ranges::count(entry.options, "deadline", &Option::name)) continue;
        const int n = sizes(entry.name).back();
        const auto scheme = make(entry.name, n, 1000, Options{{"deadline", "5"}});
        auto actions = begin(*scheme, n);
        const auto timer = std::get<SetTimer>(actions.back());
        EXPECT_EQ(timer.at, 5) << entry.name;
        std::vector<Action> out;
        scheme->handle(Deadline{timer.timer}, 5, out);
        EXPECT_TRUE(out.empty()) << entry.name << " steps with nothing";
        ContributionId id = 0;
        const auto round = play(*scheme, actions, {1}, id, 0);
        ASSERT_TRUE(round.step) << entry.name;
        EXPECT_EQ(round.received, 1);
        double error = 0;
        for (const double weight : weights(*scheme, round, 1000))
            error += (weight - 1) * (weight - 1);
        EXPECT_NEAR(round.step->error, error, 1e-9 * (1 + error)) << entry.name;
        EXPECT_TRUE(std::holds_alternative<SetTimer>(actions.back()));
    }
}

TEST(SchemeOptions, InAStructAndInWordsAreOneTooMany)
{
    const Options run = {{"dry", "on"}, {"workers", "4"}, {"rounds", "2"}};
    EXPECT_EQ(simulate(run, {AgcOptions{.collect = 2}}).rounds.size(), 2U);
    auto given = run;
    given.emplace("stragglers", "3");  // the struct has it at its default
    EXPECT_EQ(refusal([&] { simulate(given, {AgcOptions{.collect = 2}}); }),
              "--stragglers is 3, but a struct has it too: leave out one of the two");
}

TEST(SchemeOptions, OfIgnoreLeaveTheDefaultOfStragglersWhereAnotherEndsTheRound)
{
    for (const auto& given : {IgnoreOptions{.collect = 1}, IgnoreOptions{.stragglers = 0}})
        EXPECT_NE(make_scheme(given, {1, 10}), nullptr);
    EXPECT_THROW(make_scheme(IgnoreOptions{}, {1, 10}), BadInput);
    EXPECT_THROW(make_scheme(IgnoreOptions{.stragglers = 2, .collect = 1}, {4, 10}), BadInput);
}

TEST(SchemeOptions, AreRefusedAlikeAsAStructAndAsWords)
{
    const auto refused = [](const auto& given, const Problem& problem) {
        auto words = given.entry().words(given);
        words.erase("scheme");
        const auto message = refusal([&] { make_scheme(given, problem); });
        EXPECT_EQ(message, refusal([&] { make_scheme(given.entry().name, problem, words); }));
        return message;
    };
    EXPECT_EQ(refused(AgcOptions{.stragglers = 12}, {12, 120}),
              "--stragglers is 12: use at most 11");
    EXPECT_EQ(refused(AgcOptions{.collect = 13}, {12, 120}), "--collect is 13: use at most 12");
    EXPECT_EQ(refused(AgcOptions{.collect = 0}, {12, 120}), "--collect is 0: use at least 1");
    EXPECT_EQ(refused(PgcFrcOptions{.collect = {.answers = 13}}, {12, 120}),
              "--collect is 13: use at most 12");
    EXPECT_EQ(
        refused(PgcFrcOptions{.stragglers = 2, .staleness_cap = 1}, {12, 120}),
        "--staleness-cap is 1, but answers in time have gradients of the last 3 rounds: use at "
        "least 2");
    EXPECT_EQ(refusal([] {
                  make_scheme("pgc-frc", {12, 120}, {{"collect", "groups"}});
              }),
              "--collect is groups: give a whole number, or group");
    EXPECT_NE(make_scheme(PgcFrcOptions{.collect = {.group = true}}, {12, 120}), nullptr);
    // Its options do not have --batch, which is the problem's.
    EXPECT_NE(refused(ElasticOptions{}, {.workers = 6, .rows = 60, .batch = 10}), "");
    EXPECT_EQ(refused(NestedOptions{.stragglers = 4, .placement = Placement::frc}, {12, 120}),
              "--stragglers is 4, but stragglers + 1 = 5 does not divide the 12 workers: try "
              "--stragglers 3 or 5, or 10 or 15 workers");
    EXPECT_EQ(refused(BlockOptions{.inside = 0, .outside = 0}, {12, 120}),
              "--inside is 0, and so is --outside: nobody would hold anything");
    EXPECT_EQ(refused(MargulisOptions{}, {12, 120}),
              "--scheme is margulis, but 12 workers are no square of at least 4: use 9 or 16");
    EXPECT_EQ(refused(DracoCyclicOptions{.stragglers = 1, .tolerate = 3}, {6, 120}),
              "--tolerate is 3: use at most 2");
    EXPECT_EQ(refused(KBatchSyncOptions{.restart_after = 0}, {12, 120}),
              "--restart-after is 0: use a number above 0");
}

TEST(Uncoded, WaitsForAll)
{
    const auto scheme = make("uncoded", 5, 50);
    auto actions = begin(*scheme, 5);
    ContributionId id = 0;
    EXPECT_FALSE(play(*scheme, actions, {4, 3, 2, 1}, id, 0).step);
}

TEST(Frc, IsExactForEveryPatternOfStragglers)
{
    constexpr int n = 12;
    for (const int d : {1, 2, 3, 4, 5, 6, 7, 9, 12})
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
        int received;  // answers until the step
        int groups;    // groups in it
    };
    // Two groups of three, collect 2.
    for (const auto& one : {Case{{0, 1, 3}, 2, 1},  // the second answer, one group missing
                            Case{{0, 3, 1}, 2, 2},  // both at once
                            Case{{5, 4, 3, 0}, 2, 1}}) {
        const auto scheme = make_scheme(AgcOptions{.stragglers = 2, .collect = 2}, {6, 60, 1});
        auto actions = begin(*scheme, 6);
        ContributionId id = 0;
        const auto round = play(*scheme, actions, one.order, id, 0);
        EXPECT_EQ(round.received, one.received);
        EXPECT_EQ(round.step->terms.size(), static_cast<std::size_t>(one.groups));
    }
    // Coverage first: collect 5, all groups after two.
    const auto scheme = make_scheme(AgcOptions{.stragglers = 2, .collect = 5}, {6, 60, 1});
    auto actions = begin(*scheme, 6);
    ContributionId id = 0;
    EXPECT_EQ(play(*scheme, actions, {2, 4, 0, 1, 3, 5}, id, 0).received, 2);
}

TEST(Agc, WithAllAnswersIsFrc)
{
    const auto agc = make_scheme(AgcOptions{.stragglers = 2, .collect = 12}, {12, 100, 1}),
               frc = make("frc", 12, 100, 2);
    auto a = begin(*agc, 12), b = begin(*frc, 12);
    ContributionId i = 0, j = 0;
    const std::vector<Worker> order = {11, 10, 9, 0, 1, 3, 4, 5, 2, 8, 7, 6};
    const auto x = play(*agc, a, order, i, 0), y = play(*frc, b, order, j, 0);
    EXPECT_EQ(x.received, y.received);
    EXPECT_EQ(x.step->divisor, y.step->divisor);
    EXPECT_EQ(x.step->terms.size(), y.step->terms.size());
}

TEST(Agc, ScalesByCoverageUnlessToldNotTo)
{
    for (const auto* rescale : {"coverage", "none"}) {
        const auto scheme = make(
            "agc", 6, 60, Options{{"stragglers", "2"}, {"collect", "1"}, {"rescale", rescale}});
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
        const auto scheme = make(
            "agc", one.n, 300,
            Options{{"stragglers", std::to_string(one.d - 1)}, {"collect", std::to_string(one.m)}});
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

TEST(Nested, IsExactWhileItsRedundancyFollowsTheStragglers)
{
    // Quiet stretches and bursts of up to four stragglers, ten times slower than the others.
    for (const auto* placement : {"cyclic", "frc"}) {
        constexpr int n = 12;
        const auto scheme =
            make("nested", n, 1200, Options{{"stragglers", "5"}, {"placement", placement}});
        auto actions = begin(*scheme, n);
        ContributionId id = 0;
        std::mt19937 generator(4);
        std::set<std::int64_t> loads;
        Seconds began = 0;
        for (Version version = 0; version < 600; ++version) {
            std::int64_t load = 0;
            for (const auto& action : actions)
                if (const auto* task = std::get_if<Dispatch>(&action); task && task->worker == 0)
                    load = static_cast<std::int64_t>(task->plan->parts[0].items.size());
            loads.insert(load);
            const auto late = version / 100 % 2 ? 1 + generator() % 4 : 0;
            std::vector<Seconds> at(n, 1);
            std::fill(at.end() - static_cast<std::ptrdiff_t>(late), at.end(), 10);
            const auto round = play(*scheme, actions, shuffled(n, generator), id, version,
                                    {.at = at, .began = began});
            ASSERT_TRUE(round.step);
            EXPECT_LE(round.step->error, 1e-12);
            for (const double weight : weights(*scheme, round, 1200)) EXPECT_NEAR(weight, 1, 1e-9);
            began += at[static_cast<std::size_t>(round.received - 1)];
        }
        EXPECT_GE(loads.size(), 2u) << placement;
        EXPECT_EQ(*loads.rbegin(), 6) << "it begins with all it stores";
    }
}

TEST(Partial, AnyStragglersMayKeepTheirSecondMessageAndNobodyTheFirst)
{
    for (const auto& [name, n] : {std::pair{"partial-frc", 6}, {"partial-cyclic", 7}}) {
        constexpr int s = 2, own = 3;
        const int all = 80 * n;
        const auto scheme =
            make(name, n, all, Options{{"stragglers", "2"}, {"own", std::to_string(own)}});
        // Load: 1/n (1 + s / (own + 1)).
        auto actions = begin(*scheme, n);
        const auto needs = scheme->needs();
        for (const auto& shard : needs.shard) {
            std::int64_t rows = 0;
            for (const int block : shard)
                rows += needs.blocks[static_cast<std::size_t>(block)].count;
            EXPECT_EQ(rows, 80 * (own + 1 + s) / (own + 1)) << name;
        }
        for_all_patterns(n, s, [&](const Pattern& missing) {
            std::map<Worker, Dispatch> tasks;
            for (const auto& action : actions)
                if (const auto* task = std::get_if<Dispatch>(&action))
                    tasks.emplace(task->worker, *task);
            actions.clear();
            Round round;
            ContributionId id = 0;
            const auto tell = [&](Worker worker, int part) {
                EXPECT_TRUE(actions.empty());
                const auto& task = tasks.at(worker);
                ASSERT_TRUE(task.plan->each_when_ready);
                const Version version = task.inputs[0];
                round.sent[id] = task.plan->parts[static_cast<std::size_t>(part)];
                const Contribution one{{.worker = worker,
                                        .part = part,
                                        .task = task.task,
                                        .draw = version,
                                        .samples = 1,
                                        .oldest = version,
                                        .newest = version},
                                       id++};
                scheme->handle(Arrived{{one}}, 0, actions);
            };
            // All second messages that come, then the last worker's first.
            for (int i = 0; i < n - 1; ++i) tell(i, 0);
            for (int i = 0; i < n - 1; ++i)
                if (!std::ranges::binary_search(missing, i)) tell(i, 1);
            EXPECT_TRUE(actions.empty()) << name << " does not wait for a first message";
            tell(n - 1, 0);
            if (actions.empty() && !std::ranges::binary_search(missing, n - 1)) tell(n - 1, 1);
            ASSERT_FALSE(actions.empty()) << name;
            round.step = std::get<Step>(actions[0]);
            for (const double weight : weights(*scheme, round, all)) EXPECT_NEAR(weight, 1, 1e-9);
            const auto version = tasks.at(0).inputs[0] + 1;
            actions.clear();
            scheme->handle(Stepped{version}, 0, actions);
        });
    }
}

TEST(Partial, AWorkerAsSlowAsToleratedCostsNoTime)
{
    // own / (own + s + 1) of the speed: its first message comes with the others' second.
    for (const auto& [name, n] : {std::pair{"partial-frc", 6}, {"partial-cyclic", 7}}) {
        Simulation even{name, {{"stragglers", "2"}, {"own", "3"}}, n, 3, "none"};
        even.rows_each = 40;  // 10 rows a partition
        even.row_time = 0.01;
        auto slow = even;
        slow.slowdown = "fixed:2,4";
        for (const auto* simulation : {&even, &slow})
            for (const double seconds : simulation->run()) EXPECT_NEAR(seconds, 0.6, 1e-9) << name;
    }
}

TEST(Draco, NoPlacementOfTolerableByzantineWorkersChangesTheEstimate)
{
    for (const auto* name : {"draco-repetition", "draco-cyclic"})
        for (int n = 3; n <= 9; ++n)
            for (int byzantine = 0; 2 * byzantine + 1 <= n; ++byzantine)
                for_all_patterns(n, byzantine, [&](const Pattern& who) {
                    for (const auto corruption :
                         {Corruption::other, Corruption::flip, Corruption::nan}) {
                        const auto scheme = make(
                            name, n, 100 * n,
                            Options{{"stragglers", "0"}, {"tolerate", std::to_string(byzantine)}});
                        auto actions = begin(*scheme, n);
                        ContributionId id = 0;
                        Pattern order = who;  // they come first
                        for (const int other : others(n, who)) order.push_back(other);
                        const std::set<Worker> corrupt(who.begin(), who.end());
                        const auto round = play(*scheme, actions, order, id, 0,
                                                {.byzantine = corrupt, .corruption = corruption});
                        ASSERT_TRUE(round.step) << name << n << byzantine;
                        for (const double weight : weights(*scheme, round, 100 * n))
                            EXPECT_NEAR(weight, 1, 1e-12);
                        for (const auto& term : round.step->terms)
                            EXPECT_FALSE(corrupt.contains(round.sender.at(term.contribution)));
                    }
                });
}

TEST(Draco, OneByzantineWorkerTooManyIsSeen)
{
    // Of the repetition, in one group: the workers 3, 4 and 5.
    for (const auto& [name, byzantine] : {std::pair{"draco-repetition", std::set<Worker>{3, 5}},
                                          {"draco-cyclic", std::set<Worker>{1, 5}}}) {
        const auto scheme = make(name, 9, 900, Options{{"stragglers", "0"}, {"tolerate", "1"}});
        auto actions = begin(*scheme, 9);
        ContributionId id = 0;
        const auto round =
            play(*scheme, actions, {0, 1, 2, 3, 4, 5, 6, 7, 8}, id, 0, {.byzantine = byzantine});
        EXPECT_FALSE(round.step) << name;
        EXPECT_TRUE(round.undecodable) << name;
    }
}

TEST(Draco, ToleratesStragglersBesideByzantineWorkers)
{
    for (const auto* name : {"draco-repetition", "draco-cyclic"}) {
        const auto scheme = make(name, 8, 800, Options{{"stragglers", "1"}, {"tolerate", "1"}});
        auto actions = begin(*scheme, 8);
        ContributionId id = 0;
        // Worker 3 does not answer.
        const auto round = play(*scheme, actions, {1, 2, 0, 5, 6, 4, 7}, id, 0, {.byzantine = {1}});
        ASSERT_TRUE(round.step) << name;
        for (const double weight : weights(*scheme, round, 800)) EXPECT_NEAR(weight, 1, 1e-12);
    }
}

}  // namespace
