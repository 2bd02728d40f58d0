// SPDX-License-Identifier: BSD-2-Clause
// Deadlines that follow from the times of the last rounds.
#include "scheme/rounds/adaptive_deadline.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iostream>
#include <numeric>

#include "base/interval.hpp"
#include "base/random.hpp"
#include "simulation.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using namespace test;

struct Round {
    Seconds end;
    int answers;
    Seconds deadline;  // D
};

// One round of workers that take these times, as a synchronous scheme plays it.
Round play(AdaptiveDeadline& rule, std::vector<Seconds> times)
{
    std::ranges::sort(times);
    rule.begin();
    Round round{0, 0, rule.deadline()};
    for (const auto time : times) {
        if (const auto limit = rule.limit(); limit && time > *limit) {
            round.end = *limit;
            return round;
        }
        rule.answered(time);
        round.end = time;
        ++round.answers;
    }
    return round;
}

struct MeanRound {
    double seconds = 0, answers = 0, surplus = 0, deadline = 0;
};

// Means over rounds, the first fifty left out; surplus: of n / answers - 1.
MeanRound mean(const AdaptiveDeadline::Rule& rule, int rounds,
               const std::function<std::vector<Seconds>(Stream&)>& times, std::uint64_t seed = 5)
{
    AdaptiveDeadline deadline(30, rule);
    MeanRound sum;
    for (int i = -50; i < rounds; ++i) {
        Stream random(seed, Purpose::delay, static_cast<std::uint32_t>(i + 50));
        const auto round = play(deadline, times(random));
        if (i < 0) continue;
        sum.seconds += round.end / rounds;
        sum.answers += static_cast<double>(round.answers) / rounds;
        sum.surplus += (30.0 / round.answers - 1) / rounds;
        sum.deadline += round.deadline / rounds;
    }
    return sum;
}

std::vector<Seconds> exponentials(Stream& random)
{
    std::vector<Seconds> times(30);
    for (auto& time : times) time = random.exponential(1);
    return times;
}

TEST(AdaptiveDeadline, IsTheMedianAndSomeMedianDeviations)
{
    AdaptiveDeadline rule(12, {.quorum = 6, .deviations = 3});
    rule.begin();
    EXPECT_EQ(rule.deadline(), never);
    for (const double time : {0.9, 1.0, 1.1, 1.2, 1.3, 0.8, 1.0, 1.05, 1.4, 2.0})
        rule.answered(time);
    rule.begin();
    EXPECT_NEAR(rule.deadline(), 1.1 + 3 * 0.2, 1e-12);
}

TEST(AdaptiveDeadline, WithoutDeviationsOfTheLastRoundIsItsMedianOrTheQuorum)
{
    AdaptiveDeadline rule(5, {.quorum = 2, .deviations = 0, .rounds = 1});
    EXPECT_EQ(play(rule, {1, 2, 3, 4, 5}).end, 5);  // there is no median yet
    EXPECT_EQ(play(rule, {1, 2, 3, 4, 5}).end, 3);
    EXPECT_EQ(play(rule, {1, 4, 9, 9, 9}).end, 4);  // the quorum comes after the median
    // Two were heard of the five, so the median is infinite.
    EXPECT_EQ(play(rule, {1, 2, 3, 4, 5}).end, 5);
}

TEST(AdaptiveDeadline, OfAllWorkersWaitsForAll)
{
    AdaptiveDeadline rule(30, {.quorum = 30, .deviations = 0, .cap = 0.001});
    for (std::uint32_t i = 0; i < 100; ++i) {
        Stream random(1, Purpose::delay, i);
        EXPECT_EQ(play(rule, exponentials(random)).answers, 30);
    }
}

TEST(AdaptiveDeadline, IsAtMostTheCapAfterTheQuorum)
{
    AdaptiveDeadline rule(4, {.quorum = 2, .deviations = 5, .cap = 0.5});
    for (int i = 0; i < 3; ++i) {
        const auto round = play(rule, {1, 2, 90, 100});
        EXPECT_EQ(round.end, 2.5);
        EXPECT_EQ(round.answers, 2);
    }
    // Where more than half are silent there is no D, and the cap alone ends rounds.
    AdaptiveDeadline of_one(4, {.quorum = 1, .deviations = 5, .cap = 0.5});
    for (int i = 0; i < 3; ++i) {
        const auto round = play(of_one, {1, 80, 90, 100});
        EXPECT_EQ(round.end, 1.5);
        EXPECT_EQ(round.deadline, never);
    }
}

// Of exponential times with mean 1 the median is ln 2 and the median deviation asinh(1/2).
TEST(AdaptiveDeadline, StaysWhereTheDistributionHasIt)
{
    for (const double k : {1.0, 3.0, 5.0}) {
        const auto got = mean({.quorum = 15, .deviations = k}, 2000, exponentials);
        const double expected = std::log(2) + k * std::asinh(0.5);
        EXPECT_NEAR(got.deadline, expected, 0.02 * expected) << k;
    }
    // Although so few are heard that they alone would draw it down.
    const auto few = mean({.quorum = 3, .deviations = 1}, 2000, exponentials);
    EXPECT_NEAR(few.deadline, std::log(2) + std::asinh(0.5), 0.02 * 1.17);
}

// E[T] = int_0^c (1 - F^n) dt + int_c^inf P(Bin(n, F(t)) < Q) dt with D fixed at c.
TEST(AdaptiveDeadline, TakesTheSecondsOfAFixedOne)
{
    struct Expected {
        int quorum;
        double deviations, seconds;
    };
    for (const auto& [quorum, k, seconds] :
         {Expected{15, 1, 1.17515}, Expected{15, 3, 2.13215}, Expected{15, 5, 2.98425},
          Expected{27, 3, 2.34126}, Expected{30, 3, 3.99499}}) {
        const auto got = mean({.quorum = quorum, .deviations = k}, 20000, exponentials);
        EXPECT_NEAR(got.seconds, seconds, 0.015 * seconds) << quorum << " " << k;
        if (quorum == 15 && k == 3) {
            EXPECT_NEAR(got.answers, 26.46, 0.1);
        }
    }
    // The same under the virtual clock, by a scheme.
    const auto rounds =
        Simulation{.scheme = "ignore", .options = {{"deadline", "adaptive:15,3"}}}.run();
    EXPECT_NEAR(std::accumulate(rounds.begin(), rounds.end(), 0.0) / 20000, 2.13215,
                0.015 * 2.13215);
}

// Calm rounds, and in a tenth of them ten of thirty workers are ten times slower. Prints a table:
// means over ten seeds of 2000 rounds, with 95 % intervals; the same times for all rules. The 2.270
// s of waiting for all are of one seed: 0.9 (1 + 0.05 H_30) + 0.1 * 10 (1 + 0.05 H_10) = 2.226.
TEST(AdaptiveDeadline, PaysForBursts)
{
    const auto bursts = [](Stream& random) {
        const bool burst = random.uniform() < 0.1;
        std::vector<Seconds> times;
        for (int i = 0; i < 30; ++i)
            times.push_back((1 + random.exponential(0.05)) * (burst && i < 10 ? 10 : 1));
        return times;
    };
    const auto first = [](int r) {
        return AdaptiveDeadline::Rule{.quorum = r, .deviations = 0, .cap = 1e-12};
    };
    const auto adaptive = [](double k) {
        return AdaptiveDeadline::Rule{.quorum = 15, .deviations = k};
    };
    struct Case {
        std::string name;
        AdaptiveDeadline::Rule rule;
        double seconds, surplus;
    };
    for (const auto& [name, rule, seconds, surplus] :
         {Case{"all", first(30), 2.270, 0}, Case{"first 27", first(27), 2.091, 0.111},
          Case{"first 20", first(20), 1.066, 0.5}, Case{"adaptive:15,3", adaptive(3), 1.112, 0.182},
          Case{"adaptive:15,5", adaptive(5), 1.156, 0.096},
          Case{"adaptive:15,8", adaptive(8), 1.193, 0.061}}) {
        std::vector<double> times, surpluses;
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            const auto got = mean(rule, 2000, bursts, seed);
            times.push_back(got.seconds);
            surpluses.push_back(got.surplus);
        }
        const auto both = [](const std::vector<double>& values) {
            return std::pair(std::accumulate(values.begin(), values.end(), 0.0) / 10,
                             half_interval(values).value());
        };
        const auto [time, time_half] = both(times);
        const auto [bias, bias_half] = both(surpluses);
        std::cout << fmt::format("{:14} {:.3f} +- {:.3f} s, n/r - 1 {:.3f} +- {:.3f}\n", name, time,
                                 time_half, bias, bias_half);
        EXPECT_NEAR(time, seconds, 2 * time_half + 0.01 * seconds) << name;
        EXPECT_NEAR(bias, surplus, 2 * bias_half + 0.002) << name;
    }
}

// ---- schemes ------------------------------------------------------------------------------------

TEST(AdaptiveDeadline, IsForSchemesThatAreNotExact)
{
    const std::map<std::string, int> workers = {{"margulis", 9}, {"bibd", 7}};
    int accepted = 0;
    for (const auto& one : schemes()) {
        if (!std::ranges::count(one.options, "deadline", &Option::name)) continue;
        const int n = workers.contains(one.name) ? workers.at(one.name) : 6;
        const auto adaptive = one.name.starts_with("partial") ? std::string("refused") : "accepted";
        const auto message = refusal([&] {
            make_scheme(one.name, {n, 60, 1}, {{"deadline", "adaptive:3,5"}});
        });
        EXPECT_EQ(message == "(nothing was refused)" ? "accepted" : "refused", adaptive)
            << one.name << " " << message;
        accepted += message == "(nothing was refused)";
    }
    EXPECT_EQ(accepted, 12);
}

TEST(AdaptiveDeadline, EndsARoundInWhichNobodyElseCanAnswer)
{
    const auto scheme = make_scheme("ignore", {6, 60, 1}, {{"deadline", "adaptive:4,5"}});
    EXPECT_FALSE(scheme->needs().exact);
    std::vector<Action> actions;
    scheme->handle(Start{{0, 1, 2, 3, 4, 5}}, 0, actions);
    for (Worker worker = 0; worker < 2; ++worker) {
        std::vector<Action> out;
        scheme->handle(Arrived{{{{.worker = worker,
                                  .part = 0,
                                  .task = worker,
                                  .draw = 0,
                                  .samples = 10,
                                  .oldest = 0,
                                  .newest = 0},
                                 worker}}},
                       1, out);
        EXPECT_TRUE(out.empty());
    }
    std::vector<Action> out;
    scheme->handle(Quiescent{}, 2, out);
    ASSERT_FALSE(out.empty());
    EXPECT_EQ(std::get<Step>(out[0]).terms.size(), 2U);
}

// The mean estimate of sum g_i, g_i = i - 2, by `ignore` with ten workers: seven with delays of
// mean 1, and three of mean 3. The truth is 25.
double mean_estimate(const std::string& weights)
{
    const auto scheme =
        make_scheme("ignore", {10, 100, 1}, {{"deadline", "adaptive:4,1.5"}, {"weights", weights}});
    std::vector<Action> actions;
    scheme->handle(Start{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}, 0, actions);
    constexpr int rounds = 20000, left_out = 1000;
    double sum = 0;
    TaskId task = 0;
    Seconds began = 0;
    for (int round = 0; round < rounds; ++round) {
        Stream random(7, Purpose::delay, static_cast<std::uint32_t>(round));
        std::vector<std::pair<Seconds, Worker>> answers;
        for (Worker i = 0; i < 10; ++i)
            answers.emplace_back(began + random.exponential(i < 7 ? 1 : 3), i);
        std::ranges::sort(answers);
        std::optional<Step> step;
        Seconds timer = never;
        const auto look = [&](const std::vector<Action>& out) {
            for (const auto& action : out) {
                if (const auto* made = std::get_if<Step>(&action)) step = *made;
                if (const auto* set = std::get_if<SetTimer>(&action)) timer = set->at;
            }
        };
        look(actions);
        for (const auto& [at, worker] : answers) {
            if (step) break;
            std::vector<Action> out;
            began = std::min(at, timer);
            if (timer < at)
                scheme->handle(Deadline{0}, timer, out);
            else
                scheme->handle(Arrived{{{{.worker = worker,
                                          .part = 0,
                                          .task = task + worker,
                                          .draw = round,
                                          .samples = 10,
                                          .oldest = round,
                                          .newest = round},
                                         worker}}},
                               at, out);
            look(out);
        }
        if (round >= left_out)
            for (const auto& term : step->terms)
                sum += term.weight * static_cast<double>(term.contribution - 2) * 100 /
                       step->divisor / (rounds - left_out);
        task += 10;
        actions.clear();
        scheme->handle(Stepped{round + 1}, began, actions);
    }
    return sum;
}

TEST(AdaptiveDeadline, OfUnlikeWorkersNeedsTheirFrequencies)
{
    EXPECT_LT(mean_estimate("rescale"), 21);
    EXPECT_NEAR(mean_estimate("horvitz-thompson"), 25, 0.5);
}

// The mean of n / r times what is heard, and the shares of rounds in which workers of mean 1 and of
// mean 3 are heard, where a round ends at c = 1.5 or with the fourth answer, if that is later; ten
// workers and g_i = i - 2 as above.
TEST(AdaptiveDeadline, OfUnlikeWorkersIsBiasedByWhatTheFormulaSays)
{
    constexpr int rounds = 200'000;
    double scaled = 0, weighed = 0, fast = 0, slow = 0;
    const double of_fast = .779, of_slow = .394;
    for (int round = 0; round < rounds; ++round) {
        Stream random(8, Purpose::delay, static_cast<std::uint32_t>(round));
        std::vector<Seconds> times;
        for (int i = 0; i < 10; ++i) times.push_back(random.exponential(i < 7 ? 1 : 3));
        auto sorted = times;
        std::ranges::sort(sorted);
        const auto end = std::max(1.5, sorted[3]);
        int heard = 0;
        double sum = 0;
        for (int i = 0; i < 10; ++i) {
            if (times[static_cast<std::size_t>(i)] > end) continue;
            ++heard;
            sum += i - 2;
            weighed += (i - 2) / (i < 7 ? of_fast : of_slow) / rounds;
            (i < 7 ? fast : slow) += 1.0 / rounds / (i < 7 ? 7 : 3);
        }
        scaled += 10.0 / heard * sum / rounds;
    }
    EXPECT_NEAR(scaled, 18.50, 0.08);
    EXPECT_NEAR(weighed, 25, 0.08);
    EXPECT_NEAR(fast, of_fast, 0.002);
    EXPECT_NEAR(slow, of_slow, 0.003);
}

// E |mean of r of n - mean of all|^2 = (1 / r - 1 / n) / (n - 1) sum |g_i - mean|^2 over all sets
// of r; so with any r that does not depend on who is among them, E[1 / r] in its place.
TEST(AdaptiveDeadline, OfLikeWorkersHasTheVarianceOfARandomSubset)
{
    const std::vector<double> g = {3, -1, 4, 1, -5, 9};
    const double mean = std::accumulate(g.begin(), g.end(), 0.0) / 6;
    double squares = 0;
    for (const auto one : g) squares += (one - mean) * (one - mean);
    for (int r = 1; r <= 6; ++r) {
        double sum = 0, off = 0;
        int sets = 0;
        for (unsigned set = 0; set < 64; ++set) {
            if (std::popcount(set) != r) continue;
            double heard = 0;
            for (unsigned i = 0; i < 6; ++i)
                if ((set >> i & 1) != 0) heard += g[i] / r;
            sum += heard;
            off += (heard - mean) * (heard - mean);
            ++sets;
        }
        EXPECT_NEAR(sum / sets, mean, 1e-12);
        EXPECT_NEAR(off / sets, (1.0 / r - 1.0 / 6) / 5 * squares, 1e-12);
    }
}

TEST(AdaptiveDeadline, RefusesWhatItCannotRead)
{
    const auto refused = [](const std::string& deadline, Options more = {}) {
        more["deadline"] = deadline;
        return refusal([&] { make_scheme("ignore", {6, 60, 1}, more); });
    };
    EXPECT_EQ(
        refused("adaptive"),
        "--deadline is adaptive: write SECONDS or adaptive:Q,K[,W,CAP], such as adaptive:3,5");
    EXPECT_EQ(refused("adaptive:0,5"),
              "--deadline is adaptive:0,5, but Q is no whole number from 1 to 1000000");
    EXPECT_EQ(refused("adaptive:3,-1"),
              "--deadline is adaptive:3,-1, but K is no number of at least 0");
    EXPECT_EQ(refused("adaptive:3,1,0"),
              "--deadline is adaptive:3,1,0, but W is no whole number from 1 to 1000000");
    EXPECT_EQ(refused("adaptive:3,1,2,0"),
              "--deadline is adaptive:3,1,2,0, but CAP is no time above 0, such as 0.5 or 500ms");
    EXPECT_NE(refused("adaptive:3,5", {{"collect", "4"}}).find("leave out one of the two"),
              std::string::npos);
    EXPECT_NE(refused("adaptive:3,5", {{"stragglers", "2"}}).find("leave out one of the two"),
              std::string::npos);
    EXPECT_NE(refused("soon").find("--deadline is soon"), std::string::npos);
}

}  // namespace
}  // namespace quorate
