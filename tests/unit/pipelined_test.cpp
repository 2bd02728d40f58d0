// SPDX-License-Identifier: BSD-2-Clause
// Pipelined gradient coding on small quadratics: staleness, exactness, stability and times of
// rounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "code/collect_decoder.hpp"
#include "code/cyclic.hpp"
#include "compute/cached_gradients.hpp"
#include "legal_run.hpp"
#include "scheme/stability.hpp"
#include "simulation.hpp"

namespace {

using namespace quorate;
using namespace test;

constexpr std::int64_t rows = 1200;

std::unique_ptr<Scheme> pgc(const std::string& name, int n, int s, const std::string& decoder = "")
{
    Options options = {{"stragglers", std::to_string(s)}};
    if (!decoder.empty()) options["decoder"] = decoder;
    return make_scheme(name, {n, rows, 1}, options);
}

std::unique_ptr<Scheme> pgc_by_group(int n, int s)
{
    return make_scheme("pgc-frc", {n, rows, 1},
                       {{"stragglers", std::to_string(s)}, {"collect", "group"}});
}

// The same workers answer in every round, in their order.
LegalRun::Choose only(std::vector<Worker> those)
{
    return [those = std::move(those), next = std::size_t{0}](const std::vector<Worker>& busy,
                                                             std::int64_t) mutable {
        for (std::size_t tried = 0; tried < those.size(); ++tried) {
            const auto worker = those[next++ % those.size()];
            if (std::ranges::count(busy, worker)) return worker;
        }
        return Worker{-1};
    };
}

// One worker of each group of d.
std::vector<Worker> one_of_each(int n, int d)
{
    std::vector<Worker> those;
    for (Worker i = 0; i < n; i += d) those.push_back(i);
    return those;
}

// Heterogeneous: block j pulls towards a point of its own, with its own curvature.
LegalRun::Vector pull(int block, const LegalRun::Vector& w, int n)
{
    LegalRun::Vector g(w.size());
    const double count = static_cast<double>(rows) / n;
    for (std::size_t i = 0; i < w.size(); ++i) {
        const double curvature = 0.5 + 0.5 * std::abs(std::sin(3 * block + static_cast<double>(i)));
        g[i] = count * curvature * (w[i] - std::cos(block * (static_cast<double>(i) + 1)));
    }
    return g;
}

// |mean gradient| at the last model: 0 at the optimum.
double distance(LegalRun& run, int n)
{
    double square = 0;
    LegalRun::Vector sum(run.models[0].size());
    for (int block = 0; block < n; ++block) {
        const auto g = pull(block, run.models[0], n);
        for (std::size_t i = 0; i < g.size(); ++i) sum[i] += g[i] / static_cast<double>(rows);
    }
    for (const double one : sum) square += one * one;
    return std::sqrt(square);
}

double reached(const std::string& name, int n, int s, const std::string& decoder, double step,
               std::optional<LegalRun::Choose> choose = {})
{
    const auto scheme = pgc(name, n, s, decoder);
    LegalRun run(*scheme, 7);
    run.width = 4;
    run.step_size = step;
    run.gradient = [n](int block, const LegalRun::Vector& w) { return pull(block, w, n); };
    if (choose) run.choose = *choose;
    run.run(2500);
    EXPECT_EQ(run.undecodable, "");
    return distance(run, n);
}

TEST(Pipelined, EachStalenessUpToSStandsInEachGroupOnce)
{
    for (const int d : {1, 2, 3, 4, 6}) {
        const auto scheme = pgc_by_group(12, d - 1);
        LegalRun run(*scheme, 1);
        run.choose = only(one_of_each(12, d));
        run.run(30);
        for (std::size_t step = 0, at = 0; step < run.steps.size(); ++step) {
            std::map<Version, int> count;
            for (std::size_t term = 0; term < run.steps[step].terms.size(); ++term)
                for (const auto version : run.versions[at++])
                    ++count[static_cast<Version>(step) - version];
            if (static_cast<int>(step) < d - 1) continue;
            EXPECT_EQ(count.size(), static_cast<std::size_t>(d));
            for (const auto& [stale, times] : count) {
                EXPECT_LT(stale, d);
                EXPECT_EQ(times, 12 / d);
            }
        }
    }
}

TEST(Pipelined, AnySWorkersMayBeDead)
{
    constexpr int n = 6;
    for (const int s : {1, 2})
        for (int dead = 0; dead < (1 << n); ++dead) {
            if (__builtin_popcount(static_cast<unsigned>(dead)) != s) continue;
            std::vector<Worker> alive;
            for (Worker i = 0; i < n; ++i)
                if (!(dead >> i & 1)) alive.push_back(i);
            for (const auto* decoder : {"", "residue", "mds"}) {
                const auto scheme = pgc(*decoder ? "pgc-cyclic" : "pgc-frc", n, s, decoder);
                LegalRun run(*scheme, 1);
                run.choose = only(alive);
                run.run(12);
                EXPECT_EQ(run.steps.size(), 12U) << s << " " << dead << " " << decoder;
                for (const auto& step : run.steps) EXPECT_LT(step.error, 1e-15);
            }
        }
}

TEST(Pipelined, WithAFrozenModelTheEstimateIsExact)
{
    for (const auto* decoder : {"residue", "mds"}) {
        const auto scheme = pgc("pgc-cyclic", 12, 2, decoder);
        LegalRun run(*scheme, 3);
        run.gradient = [](int block, const LegalRun::Vector&) {
            return LegalRun::Vector{1.0 + block};
        };
        run.run(20);
        for (const auto& estimate : run.estimates) EXPECT_NEAR(estimate[0], 78.0 / rows, 1e-12);
    }
}

TEST(Pipelined, IsExactOnAHeterogeneousQuadraticWhereTheRescalingStalls)
{
    EXPECT_LT(reached("pgc-frc", 12, 2, "", 0.3), 1e-10);
    EXPECT_LT(reached("pgc-cyclic", 12, 2, "residue", 0.3), 1e-10);
    EXPECT_LT(reached("pgc-cyclic", 12, 2, "mds", 0.1), 1e-10);
    EXPECT_LT(reached("pgc-cyclic", 10, 2, "mds", 0.1), 1e-10);
    EXPECT_LT(reached("pgc-cyclic", 13, 3, "mds", 0.1), 1e-10);
    EXPECT_GT(reached("pgc-cyclic", 12, 2, "mu", 0.3), 1e-3);
    // Two that never answer.
    const auto most = only({1, 2, 3, 4, 6, 7, 8, 9, 10, 11});
    EXPECT_LT(reached("pgc-frc", 12, 2, "", 0.3, most), 1e-10);
    EXPECT_LT(reached("pgc-cyclic", 12, 2, "residue", 0.3, most), 1e-10);
    EXPECT_GT(reached("pgc-cyclic", 12, 2, "mu", 0.3, most), 1e-3);
}

TEST(Pipelined, TheOldestGradientIsComputedAgainOrTheOneThatWasBegun)
{
    using Operation = Item::Operation;
    Part part;
    for (const int block : {2, 3, 5})
        part.items.push_back({.block = block, .operation = Operation::cached});
    const auto blocks = [&](const Versions& inputs, const std::map<int, Version>& cached,
                            std::optional<std::pair<int, Version>> begun = {}) {
        std::vector<std::pair<int, Version>> all;
        for (const auto& [item, version] : cache_updates(part, inputs, cached, begun))
            all.emplace_back(item->block, version);
        return all;
    };
    using List = std::vector<std::pair<int, Version>>;
    EXPECT_EQ(blocks({0}, {}), (List{{2, 0}, {3, 0}, {5, 0}}));
    EXPECT_EQ(blocks({1}, {{2, 0}}), (List{{3, 1}, {5, 1}}));
    EXPECT_EQ(blocks({4}, {{2, 3}, {3, 1}, {5, 1}}), (List{{3, 4}}));
    EXPECT_EQ(blocks({4, 3}, {{2, 2}, {3, 1}, {5, 1}}, {{2, 3}}), (List{{2, 3}}));
    EXPECT_EQ(blocks({4}, {{2, 2}, {3, 1}, {5, 1}}, {{2, 3}}), (List{{3, 4}}));
    EXPECT_EQ(blocks({4, 3}, {{2, 2}, {3, 1}}, {{5, 3}}), (List{{5, 3}}));
    EXPECT_EQ(blocks({4}, {{2, 4}, {3, 4}, {5, 4}}), List{});
}

TEST(Pipelined, IsStableUpToTheLimitOfItsCycle)
{
    for (const int d : {1, 2, 3, 4, 6, 8, 12}) {
        const auto at = [d](double step) {
            const auto scheme = pgc_by_group(24, d - 1);
            LegalRun run(*scheme, 1);
            run.step_size = step;
            run.gradient = [](int, const LegalRun::Vector& w) {
                return LegalRun::Vector{static_cast<double>(rows) / 24 * w[0]};
            };
            run.choose = only(one_of_each(24, d));
            run.width = 1;
            run.first = {1};
            run.run(3000);
            return std::abs(run.models[0][0]);
        };
        EXPECT_LT(at(0.95 * stable_step_of_cycle(d)), 1e-2) << d;
        EXPECT_GT(at(1.05 * stable_step_of_cycle(d)), 1e2) << d;
    }
}

TEST(Pipelined, APureDelayIsStableUpToItsLimit)
{
    for (const int delay : {0, 1, 2, 3, 4, 10}) {
        const auto at = [delay](double step) {
            std::vector<double> w(static_cast<std::size_t>(delay) + 1, 1);
            for (int t = 0; t < 20000 && std::abs(w.back()) < 1e6; ++t)
                w.push_back(w.back() - step * w[w.size() - 1 - static_cast<std::size_t>(delay)]);
            return std::abs(w.back());
        };
        EXPECT_LT(at(0.99 * stable_step(delay)), 1e-3) << delay;
        EXPECT_GT(at(1.01 * stable_step(delay)), 1e3) << delay;
    }
    EXPECT_NEAR(stable_step(2), 0.618, 5e-4);
    EXPECT_NEAR(stable_step(4), 0.347, 5e-4);
}

TEST(Pipelined, TheRescalingIsUnbiasedOverAllStragglerSets)
{
    constexpr int n = 8, s = 2;
    const auto windows = cyclic_windows(n, s + 1);
    const auto weigh = one_step(windows);
    std::vector<double> mean(n);
    int sets = 0;
    for (int a = 0; a < n; ++a)
        for (int b = a + 1; b < n; ++b, ++sets) {
            std::vector<int> received;
            for (int i = 0; i < n; ++i)
                if (i != a && i != b) received.push_back(i);
            const auto decoding = weigh(received);
            std::vector<double> weight(n);
            for (const auto& one : decoding.weights)
                for (const auto& [j, value] : windows.rows[static_cast<std::size_t>(one.worker)][0])
                    weight[static_cast<std::size_t>(j)] += decoding.scale * one.value * value;
            for (int j = 0; j < n; ++j) {
                EXPECT_GE(weight[static_cast<std::size_t>(j)], 0);
                EXPECT_LT(weight[static_cast<std::size_t>(j)], 2);
                mean[static_cast<std::size_t>(j)] += weight[static_cast<std::size_t>(j)];
            }
        }
    for (const double sum : mean) EXPECT_NEAR(sum / sets, 1, 1e-12);
}

TEST(Pipelined, NoContributionBeyondTheCapIsUsed)
{
    for (const auto* name : {"pgc-frc", "pgc-cyclic"}) {
        Options options = {{"stragglers", "2"}, {"staleness-cap", "3"}};
        if (std::string(name) == "pgc-frc") options["collect"] = "group";
        const auto scheme = make_scheme(name, {12, rows, 1}, options);
        LegalRun run(*scheme, 5);
        run.run(400);
        EXPECT_EQ(run.steps.size(), 400U);
        std::size_t at = 0;
        bool beyond_s = false;
        for (std::size_t step = 0; step < run.steps.size(); ++step)
            for (std::size_t term = 0; term < run.steps[step].terms.size(); ++term)
                for (const auto version : run.versions[at++]) {
                    EXPECT_LE(static_cast<Version>(step) - version, 3);
                    beyond_s |= static_cast<Version>(step) - version > 2;
                }
        EXPECT_TRUE(beyond_s) << "nobody lagged: the test shows nothing";
    }
}

TEST(Pipelined, ARoundTakesTheTimeOfUncodedsBestNMinusS)
{
    for (const int s : {1, 2, 3}) {
        const auto mean = [s](const std::string& scheme, Options options) {
            options["stragglers"] = std::to_string(s);
            const auto seconds = Simulation{.scheme = scheme,
                                            .options = options,
                                            .workers = 12,
                                            .rounds = 4000,
                                            .delay = "exponential:0.2",
                                            .rows_each = 100,
                                            .row_time = 0.01}
                                     .run();
            return std::accumulate(seconds.begin() + 10, seconds.end(), 0.0) /
                   static_cast<double>(seconds.size() - 10);
        };
        const auto best = mean("ignore", {});
        EXPECT_NEAR(mean("pgc-cyclic", {{"decoder", "mds"}}) / best, 1, 0.05) << s;
        EXPECT_LT(mean("pgc-cyclic", {}), 1.05 * best) << s;
        EXPECT_LT(mean("pgc-frc", {{"collect", "group"}}), 1.05 * best) << s;
        // Those who finish what was late are late once more.
        EXPECT_NEAR(mean("pgc-frc", {}) / best, 1, 0.1) << s;
        EXPECT_GT(mean("cyclic", {}), s + 1.0) << s;
    }
}

// ---- the published rule -------------------------------------------------------------------------

TEST(PipelineQueue, AnswersInTimeHaveEachAgeUpToSOnceWhoeverIsLate)
{
    for (const int d : {1, 2, 3, 4, 6})
        for (const unsigned seed : {1U, 2U, 3U}) {
            const auto scheme = pgc("pgc-frc", 12, d - 1);
            LegalRun run(*scheme, seed);
            run.run(60);
            ASSERT_EQ(run.steps.size(), 60U);
            std::size_t at = 0;
            for (std::size_t step = 0; step < run.steps.size(); ++step) {
                EXPECT_EQ(run.steps[step].terms.size(), static_cast<std::size_t>(12 / d));
                for (std::size_t term = 0; term < run.steps[step].terms.size(); ++term) {
                    auto ages = run.versions[at++];
                    for (auto& one : ages) one = static_cast<Version>(step) - one;
                    std::ranges::sort(ages);
                    for (int age = 0; age < d; ++age)
                        EXPECT_EQ(ages[static_cast<std::size_t>(age)],
                                  std::min(age, static_cast<int>(step)));
                }
            }
        }
}

TEST(PipelineQueue, ARoundEndsAtTheAnswersAskedForOnceEachGroupHasOne)
{
    const auto answers = [](const Options& more, std::vector<Worker> order) {
        auto options = more;
        options["stragglers"] = "2";
        const auto scheme = make_scheme("pgc-frc", {6, rows, 1}, options);
        std::vector<Action> out;
        scheme->handle(Start{{0, 1, 2, 3, 4, 5}}, 0, out);
        for (std::size_t i = 0; i < order.size(); ++i) {
            out.clear();
            Contribution one{};
            one.worker = one.task = order[i];
            one.id = static_cast<ContributionId>(i);
            scheme->handle(Arrived{{one}}, 1, out);
            if (std::ranges::any_of(
                    out, [](const Action& action) { return std::holds_alternative<Step>(action); }))
                return i + 1;
        }
        return std::size_t{0};
    };
    EXPECT_EQ(answers({}, {0, 3, 1, 4, 2, 5}), 4U);
    EXPECT_EQ(answers({{"collect", "5"}}, {0, 3, 1, 4, 2, 5}), 5U);
    EXPECT_EQ(answers({{"collect", "2"}}, {0, 3, 1, 4, 2, 5}), 2U);
    EXPECT_EQ(answers({{"collect", "2"}}, {0, 1, 2, 3, 4, 5}), 4U);
    EXPECT_EQ(answers({{"collect", "group"}}, {0, 3, 1, 4, 2, 5}), 2U);
}

// The gradient of each block at the point that the published rule takes it at: in round t, from 1,
// every worker computes item (t - 1) mod d of its list; before, all are of round 0.
TEST(PipelineQueue, FollowsTheReference)
{
    constexpr int n = 12, rounds = 50;
    constexpr double step = 0.2;
    for (const int d : {2, 3, 4}) {
        std::vector<LegalRun::Vector> points = {LegalRun::Vector(4)};
        for (int t = 0; t < rounds; ++t) {
            auto next = points.back();
            for (int block = 0; block < n; ++block) {
                int version = t;
                while (version > 0 && (version - 1) % d != block % d) --version;
                const auto g = pull(block, points[static_cast<std::size_t>(version)], n);
                for (std::size_t i = 0; i < g.size(); ++i)
                    next[i] -= step * g[i] / static_cast<double>(rows);
            }
            points.push_back(next);
        }
        const auto scheme = pgc("pgc-frc", n, d - 1);
        LegalRun run(*scheme, 7);
        run.width = 4;
        run.step_size = step;
        run.gradient = [](int block, const LegalRun::Vector& w) { return pull(block, w, n); };
        run.run(rounds);
        for (std::size_t i = 0; i < 4; ++i)
            EXPECT_NEAR(run.models[0][i], points.back()[i], 1e-12) << d;
    }
}

// The largest |z| with z^d = z^(d-1) - x / d (z^(d-1) + ... + 1): by how much a step of size
// x / curvature shortens the way to the optimum, by the power method on the last d points.
double step_factor(int d, double x)
{
    std::vector<double> w(static_cast<std::size_t>(d), 1);
    for (int t = 0; t < 4000; ++t) {
        const double next = w.back() - x / d * std::accumulate(w.begin(), w.end(), 0.0);
        w.erase(w.begin());
        w.push_back(next);
        if (const double norm = std::abs(w.back()); norm < 1e-100)
            for (auto& one : w) one /= norm;
    }
    return w.back() / w[w.size() - 2];
}

TEST(PipelineQueue, NeedsAThirdFewerStepsThanFreshGradientsAtTheSameSmallStep)
{
    const auto steps = [](const std::string& name, const Options& options, double x) {
        const auto scheme = make_scheme(name, {12, rows, 1}, options);
        LegalRun run(*scheme, 1);
        run.width = 1;
        run.first = {1};
        run.step_size = x;
        run.gradient = [](int, const LegalRun::Vector& w) {
            return LegalRun::Vector{static_cast<double>(rows) / 12 * w[0]};
        };
        run.run(400);
        double w = 1;
        int count = 0;
        for (const auto& estimate : run.estimates) {
            if (std::abs(w) <= 1e-12) break;
            w -= x * estimate[0];
            ++count;
        }
        return static_cast<double>(count);
    };
    const std::pair<int, double> tried[] = {{2, 0.31}, {3, 0.2}, {4, 0.15}};
    for (const auto& [d, x] : tried) {
        const auto s = std::to_string(d - 1);
        const double pipelined = steps("pgc-frc", {{"stragglers", s}}, x);
        const double fresh = steps("ignore", {{"stragglers", s}}, x);
        EXPECT_NEAR(fresh, std::log(1e-12) / std::log1p(-x), 1) << d;
        EXPECT_NEAR(pipelined, std::log(1e-12) / std::log(step_factor(d, x)), 5) << d;
        EXPECT_GT(1 - pipelined / fresh, 0.31) << d;
        EXPECT_LT(1 - pipelined / fresh, 0.39) << d;
    }
}

TEST(PipelineQueue, AWorkerThatOwesTooMuchLeavesOutAllButTheLastRounds)
{
    const auto scheme =
        make_scheme("pgc-frc", {12, rows, 1}, {{"stragglers", "2"}, {"staleness-cap", "4"}});
    LegalRun run(*scheme, 1);
    run.choose = [](const std::vector<Worker>& busy, std::int64_t round) {
        if (round >= 20) return busy.empty() ? Worker{-1} : busy[0];  // then the first come first
        for (const auto worker : busy)
            if (worker != 0 && worker != 3) return worker;
        return Worker{-1};
    };
    run.run(60);
    EXPECT_EQ(run.steps.size(), 60U);
    std::size_t most = 0, answered = 0;
    for (const auto& line : run.log)
        most += line.starts_with("dispatch") && line.ends_with(" to 0");
    // Rounds, and two that it is asked for once more whenever it owes more than four.
    EXPECT_GT(most, 60U);
    EXPECT_LT(most, 80U);
    std::size_t at = 0;
    for (std::size_t step = 0; step < run.steps.size(); ++step)
        for (std::size_t term = 0; term < run.steps[step].terms.size(); ++term, ++at) {
            const auto [oldest, newest] = std::ranges::minmax(run.versions[at]);
            EXPECT_EQ(newest, static_cast<Version>(step));
            EXPECT_LE(newest - oldest, 2);
            answered += step >= 25;
        }
    EXPECT_GT(answered, 0U);
}

}  // namespace
