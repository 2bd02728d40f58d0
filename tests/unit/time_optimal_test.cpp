// SPDX-License-Identifier: BSD-2-Clause
// The schemes of optimal time complexity (ringmaster, k-batch-sync with restarts, malenia,
// mindflayer, ata) against a small problem that was computed by hand, against schemes that they
// equal, and against closed forms and tables of times.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "engine/engine.hpp"
#include "fleet/virtual_fleet.hpp"
#include "legal_run.hpp"
#include "scheme/newest/restarts.hpp"
#include "scheme/newest/task_allocation.hpp"
#include "scheme/newest/trials.hpp"
#include "scheme/schemes.hpp"
#include "simulation.hpp"
#include "support.hpp"
#include "tiny.hpp"
#include "trace/memory.hpp"

namespace quorate {
namespace {

using test::Folder;
using test::LegalRun;
using test::make_scheme;
using test::Options;
using test::refusal;

// ---- a small least-squares problem
// -----------------------------------------------------------------

// 24 rows of 3 numbers on 3 workers, without noise: loss (x.w - y)^2.
class TimeOptimalOnTiny : public testing::Test {
protected:
    TimeOptimalOnTiny() { test::write_tiny(folder_.file("d.h5")); }

    // Has each task of a worker take its time, by worker and by the worker's count of tasks.
    void tasks_take(const std::function<double(int, int)>& seconds, int tasks = 1, int workers = 3)
    {
        std::string text = "worker,round,seconds\n";
        for (int i = 0; i < workers; ++i)
            for (int task = 0; task < tasks; ++task)
                text += fmt::format("{},{},{}\n", i, task, seconds(i, task));
        folder_.write("times.csv", text);
    }
    void tasks_take_1_and_1_7_and_4_1()
    {
        tasks_take([](int i, int) {
            return std::vector{1.0, 1.7, 4.1}[static_cast<std::size_t>(i)];
        });
    }

    trace::Trace run(const std::string& scheme, std::int64_t rounds, const std::string& step,
                     Options more) const
    {
        more.insert({{"data", folder_.file("d.h5")},
                     {"model", "ridge"},
                     {"l2", "0"},
                     {"workers", "3"},
                     {"scheme", scheme},
                     {"optimizer", "gd"},
                     {"schedule", "constant"},
                     {"step", step},
                     {"rounds", std::to_string(rounds)},
                     {"trace-arrivals", "all"},
                     {"delay", "trace:" + folder_.file("times.csv")}});
        return simulate(make_settings(simulation_options(), more));
    }

private:
    Folder folder_;
};

void expect_near(const std::vector<double>& model, const std::vector<double>& expected)
{
    ASSERT_EQ(model.size(), expected.size());
    for (std::size_t i = 0; i < model.size(); ++i) EXPECT_NEAR(model[i], expected[i], 1e-12) << i;
}

void expect_times(const trace::Trace& trace, const std::vector<double>& expected)
{
    ASSERT_EQ(trace.rounds.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(trace.rounds[i].time, expected[i], 1e-9) << i;
}

// Expects the same model, at the same times, from contributions of the same workers.
void expect_same(const trace::Trace& a, const trace::Trace& b)
{
    EXPECT_TRUE(test::same_bits(a.model, b.model));
    ASSERT_EQ(a.rounds.size(), b.rounds.size());
    for (std::size_t i = 0; i < a.rounds.size(); ++i) {
        EXPECT_EQ(a.rounds[i].time, b.rounds[i].time);
        EXPECT_EQ(a.rounds[i].samples, b.rounds[i].samples);
        EXPECT_EQ(a.rounds[i].gradient_norm, b.rounds[i].gradient_norm);
    }
}

struct Used {
    double time;
    std::int64_t worker, delay;
    bool operator==(const Used&) const = default;
};

TEST_F(TimeOptimalOnTiny, RingmasterUsesWhatIsNotTooStale)
{
    tasks_take_1_and_1_7_and_4_1();
    const auto trace = run("ringmaster", 12, "0.3", {{"staleness-cap", "1"}});
    expect_times(trace, {1, 1.7, 2, 3, 4, 5, 6, 6.8, 7, 8, 9, 10});
    expect_near(trace.model, {-.156421955678844, .169493605914462, .238615479173926});
    std::vector<std::int64_t> workers, delays;
    std::size_t ignored = 0;
    for (const auto& arrival : trace.arrivals) {
        if (arrival.used == 0) {
            ++ignored;
            continue;
        }
        workers.push_back(arrival.worker);
        delays.push_back(arrival.used - 1 - arrival.version);
    }
    EXPECT_EQ(workers, (std::vector<std::int64_t>{0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}));
    EXPECT_EQ(delays, (std::vector<std::int64_t>{0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0}));
    EXPECT_EQ(ignored, 5U);
}

TEST_F(TimeOptimalOnTiny, RingmasterThatStopsBeginsAnewAtTheNewestPoint)
{
    tasks_take_1_and_1_7_and_4_1();
    const auto trace = run("ringmaster", 12, "0.3", {{"staleness-cap", "1"}, {"stop-stale", "on"}});
    expect_times(trace, {1, 1.7, 2, 3, 4, 4.7, 5, 6, 7, 7.7, 8, 9});
    expect_near(trace.model, {-.135873175902034, .150181428734968, .206794438047381});
}

TEST_F(TimeOptimalOnTiny, RingmasterWithoutThresholdIsAsync)
{
    tasks_take_1_and_1_7_and_4_1();
    for (const auto* stop : {"off", "on"}) {
        const auto trace =
            run("ringmaster", 12, "0.3", {{"staleness-cap", "100"}, {"stop-stale", stop}});
        expect_times(trace, {1, 1.7, 2, 3, 3.4, 4, 4.1, 5, 5.1, 6, 6.8, 7});
        expect_near(trace.model, {-.10597634466538, .103135339230983, .172300482836343});
        expect_same(trace, run("async", 12, "0.3", {}));
    }
}

TEST_F(TimeOptimalOnTiny, RingmasterWithoutStopsIsAsyncWithACap)
{
    for (const auto* cap : {"0", "1", "3"})
        for (const auto* scale : {"none", "adaptive"}) {
            const Options options = {{"staleness-cap", cap},
                                     {"staleness-scale", scale},
                                     {"delay", "exponential:1"},
                                     {"batch", "6"},
                                     {"workers", "5"}};
            expect_same(run("ringmaster", 200, "0.1", options), run("async", 200, "0.1", options));
        }
}

TEST_F(TimeOptimalOnTiny, RingmasterThatStopsAllIsRennalaOfOneTask)
{
    Options options = {{"delay", "pareto:1,1.5"}, {"batch", "6"}, {"workers", "5"}};
    auto rennala = options, ringmaster = options;
    rennala["collect"] = "1";
    ringmaster.insert({{"staleness-cap", "0"}, {"stop-stale", "on"}});
    expect_same(run("ringmaster", 200, "0.1", ringmaster),
                run("k-batch-sync", 200, "0.1", rennala));
    expect_same(run("rennala", 50, "0.1", rennala), run("k-batch-sync", 50, "0.1", rennala));
}

// What an event simulation in Python has for the same times.
TEST_F(TimeOptimalOnTiny, LocalSgdAddsUpTheStepsOfWhoeverIsReady)
{
    tasks_take_1_and_1_7_and_4_1();
    const auto trace = run("local-sgd", 5, "0.1", {{"total", "7"}, {"local-steps", "3"}});
    expect_times(trace, {2, 4, 6, 8, 10});
    expect_near(trace.model, {-.1306241065400245, .1492781346451706, .2016554271798384});
    for (const auto& round : trace.rounds) EXPECT_EQ(round.samples, 9);
}

TEST_F(TimeOptimalOnTiny, AsyncLocalAddsWhatIsNotTooStaleAtOnce)
{
    tasks_take_1_and_1_7_and_4_1();
    const auto trace =
        run("async-local", 12, "0.1", {{"staleness-cap", "1"}, {"local-steps", "3"}});
    expect_times(trace, {1, 1.7, 2, 3, 4, 5, 6, 6.8, 7, 8, 9, 10});
    expect_near(trace.model, {-.1534616754779479, .166496000604572, .2348897031914277});
}

TEST_F(TimeOptimalOnTiny, SingleLocalStepsAreGradients)
{
    Options options = {{"delay", "exponential:1"}, {"batch", "6"}, {"workers", "4"}, {"l2", "0.1"}};
    const auto with = [&](Options more) {
        more.insert(options.begin(), options.end());
        return more;
    };
    const auto local = run("local-sgd", 50, "0.02", with({{"total", "5"}, {"local-steps", "1"}}));
    const auto batches = run("k-batch-sync", 50, "0.1", with({{"collect", "5"}}));
    expect_near(local.model, batches.model);
    EXPECT_EQ(local.rounds.back().time, batches.rounds.back().time);
    // Workers decay the points that they have, and the coordinator decays the newest one.
    options["l2"] = "0";
    const auto at_once = run("async-local", 50, "0.1", with({{"local-steps", "1"}}));
    const auto gradients = run("ringmaster", 50, "0.1", options);
    expect_near(at_once.model, gradients.model);
    EXPECT_EQ(at_once.rounds.back().time, gradients.rounds.back().time);
    options["batch"] = "8";
    const auto buffered = run("async-local", 50, "0.1",
                              with({{"local-steps", "1"},
                                    {"collect", "2"},
                                    {"outer-step", "0.5"},
                                    {"staleness-cap", "3"}}));
    const auto pairs =
        run("k-batch-async", 50, "0.1", with({{"collect", "2"}, {"staleness-cap", "3"}}));
    expect_near(buffered.model, pairs.model);
    EXPECT_EQ(buffered.rounds.back().time, pairs.rounds.back().time);
}

TEST_F(TimeOptimalOnTiny, MindFlayerCutsTrialsOff)
{
    tasks_take([](int i, int task) { return 1 + (3 * i + 5 * task) % 7 / 2.0; }, 70);
    const auto model_after = [&](std::int64_t rounds, double time) {
        // No probability of success is a decimal fraction of 4 / 7, but this is within 1e-16 of it.
        const auto trace = run("mindflayer", rounds, "0.5",
                               {{"trials", "3"},
                                {"restart-after", "2.5"},
                                {"estimator", "expected"},
                                {"success", fmt::format("{:.17g}", 4.0 / 7)}});
        EXPECT_NEAR(trace.rounds.back().time, time, 1e-9);
        return trace;
    };
    const auto successes = [](const trace::Trace& trace, std::int64_t round) {
        std::vector<int> count(3);
        for (const auto& arrival : trace.arrivals)
            count[static_cast<std::size_t>(arrival.worker)] += arrival.used == round;
        return count;
    };
    const auto one = model_after(1, 7);
    EXPECT_EQ(successes(one, 1), (std::vector{2, 2, 1}));
    expect_near(one.model, {-.013699494949495, .0090909090909091, .0235479797979798});
    const auto two = model_after(2, 13.5);
    EXPECT_EQ(successes(two, 2), (std::vector{1, 2, 2}));
    expect_near(two.model, {-.01817621212556, .00292185315186995, .0384900418542055});
    expect_near(model_after(7, 47).model,
                {-.0540109077975858, .00836730266748116, .129864376814685});
}

TEST_F(TimeOptimalOnTiny, MindFlayerThatCutsNothingOffIsFmb)
{
    // Not on full batches, which fmb adds up in the order of rows, and limited tasks in that of
    // samples.
    const Options common = {{"delay", "exponential:1"}, {"batch", "9"}};
    auto options = common;
    options.insert({{"trials", "1"}, {"restart-after", "1e9"}});
    expect_same(run("mindflayer", 100, "0.1", options), run("fmb", 100, "0.1", common));
}

TEST_F(TimeOptimalOnTiny, MaleniaOnWholePartitionsIsGradientDescent)
{
    for (const auto& options : {Options{{"collect", "3"}}, Options{{"update-at", "each"}}}) {
        auto random = options;
        random.insert({"delay", "exponential:1"});
        const auto trace = run("malenia", 10, "1", random);
        expect_near(trace.model, {-.0642940341015526, .00515407992706862, .231887337756096});
    }
}

TEST_F(TimeOptimalOnTiny, AtaOfEqualWorkersIsFmb)
{
    for (const auto* batch : {"0", "6"}) {
        const Options options = {{"delay", "constant:1"}, {"batch", batch}};
        expect_same(run("ata", 50, "0.1", options), run("fmb", 50, "0.1", options));
    }
}

TEST_F(TimeOptimalOnTiny, RingleaderMakesAnUpdateForEachWorkerInTurn)
{
    tasks_take_1_and_1_7_and_4_1();
    const auto trace = run("ringleader", 30, "0.5", {});
    const double times[] = {4.1, 5, 5.1, 8.2, 8.5, 9};
    const std::int64_t batches[] = {7, 8, 9, 5, 6, 7}, delays[] = {0, 1, 2, 2, 3, 4};
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_NEAR(trace.rounds[i].time, times[i], 1e-9) << i;
        EXPECT_EQ(trace.rounds[i].samples, 8 * batches[i]) << i;
        EXPECT_EQ(trace.rounds[i].staleness_max, delays[i]) << i;
    }
    EXPECT_NEAR(trace.rounds[29].time, 42.5, 1e-9);
    expect_near(run("ringleader", 3, "0.5", {}).model,
                {-.037012987012987, .00779220779220781, .074025974025974});
    expect_near(run("ringleader", 6, "0.5", {}).model,
                {-.0625845229151014, .0109681898679833, .133303370183535});
    expect_near(trace.model, {-.0520233492953574, -.00303017691705472, .267212081620803});
    expect_near(run("ringleader", 6, "0.5", {{"points", "newest"}}).model,
                {-.0612116777276901, .0102465959774844, .131612119945023});
}

TEST_F(TimeOptimalOnTiny, TablesOfOneWorkerAreAsync)
{
    const Options options = {{"workers", "1"}, {"delay", "exponential:1"}};
    for (const auto* scheme : {"ringleader", "ia2sgd"})
        expect_same(run(scheme, 50, "0.3", options), run("async", 50, "0.3", options));
}

TEST_F(TimeOptimalOnTiny, Ia2sgdBeginsWithAGradientOfEachWorker)
{
    tasks_take_1_and_1_7_and_4_1();
    const auto trace = run("ia2sgd", 5, "0.5", {});
    expect_times(trace, {4.1, 5.1, 5.8, 6.1, 7.1});
    const std::int64_t delays[] = {0, 1, 2, 3, 4};
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(trace.rounds[i].samples, 24);
        EXPECT_EQ(trace.rounds[i].staleness_max, delays[i]) << i;
    }
    // The first step is one of gradient descent.
    expect_near(run("ia2sgd", 1, "1", {}).model, run("uncoded", 1, "1", {}).model);
}

// ---- times
// ------------------------------------------------------------------------------------------

// Seconds of tasks by worker and count, from a stream of its own for each.
class Times final : public DelayModel {
public:
    using Draw = std::function<double(int machine, Stream& stream)>;
    /// @param tasks_at_full_load  a task of such a share of the rows counts as one; 0: each counts
    ///        as one
    Times(Draw draw, std::uint64_t seed, double tasks_at_full_load = 0)
        : draw_(std::move(draw)), seed_(seed), tasks_(tasks_at_full_load)
    {
    }
    double draw(int machine, std::int64_t draw, double load) override
    {
        Stream stream(seed_, Purpose::delay, static_cast<std::uint32_t>(machine),
                      static_cast<std::uint32_t>(draw));
        const auto tasks = tasks_ > 0 ? std::lround(load * tasks_) : 1;
        double sum = 0;
        for (long task = 0; task < tasks; ++task) sum += draw_(machine, stream);
        return sum;
    }

private:
    Draw draw_;
    std::uint64_t seed_;
    double tasks_;
};

// A dry run.
trace::Trace timed(const std::string& scheme, const Options& options, int n, DelayModel& delays,
                   std::int64_t rounds, Arrivals arrivals = Arrivals::none)
{
    const Problem problem{n, 10 * n, 1};
    const auto made = make_scheme(scheme, problem, options);
    const auto needs = made->needs();
    const auto others = test::make_stragglers({}, n);
    const auto none = others.models(0);
    const Batches batches(needs, 1, 0);
    const ByzantineWorkers nobody;
    Recipes recipes(needs, batches, nobody, 0);
    VirtualFleet fleet(recipes, {{0, delays, none.row_delays, none.uplink_delays,
                                  none.downlink_delays, none.slowdowns},
                                 {}});
    std::vector<std::unique_ptr<Optimizer>> optimizers;
    optimizers.push_back(test::entry(quorate::optimizers(), "gd")
                             .make(test::settings(std::vector<Option>(), {}), {}, {}));
    trace::Memory memory({});
    Engine engine({.rounds = rounds, .evaluate_every = 0, .arrivals = arrivals}, *made, fleet,
                  optimizers, memory);
    const std::atomic<bool> stop = false;
    engine.run(stop, {});
    return memory.take();
}

double seconds_an_update(const trace::Trace& trace)
{
    return trace.rounds.back().time / static_cast<double>(trace.rounds.size());
}

// The bound of 2 min_m H_m (1 + R / m) seconds for R updates, H_m being the harmonic mean of the m
// least times.
double most_seconds(int threshold, std::vector<double> times)
{
    std::ranges::sort(times);
    double inverse = 0, least = unlimited;
    for (std::size_t m = 1; m <= times.size(); ++m) {
        inverse += 1 / times[m - 1];
        const auto count = static_cast<double>(m);
        least = std::min(least, count / inverse * (1 + threshold / count));
    }
    return 2 * least;
}

TEST(Ringmaster, UpdatesComeAsFastAsTheBoundSays)
{
    std::vector<double> of_i(16);
    std::iota(of_i.begin(), of_i.end(), 1);
    EXPECT_NEAR(most_seconds(1, of_i), 4, 1e-12);
    EXPECT_NEAR(most_seconds(4, of_i), 7.636, 5e-4);
    EXPECT_NEAR(most_seconds(16, of_i), 17.661, 5e-4);
    EXPECT_NEAR(most_seconds(64, of_i), 47.327, 5e-4);
    const std::vector<std::function<double(int)>> kinds = {
        [](int i) { return std::sqrt(i + 1); }, [](int i) { return i + 1; },
        [](int i) { return (i + 1) * (i + 1); }, [](int i) { return i == 0 ? 100 : 1; }};
    for (const auto& kind : kinds)
        for (const int r : {1, 4, 16, 64})
            for (const auto* stop : {"", "on"}) {
                std::vector<double> times;
                for (int i = 0; i < 16; ++i) times.push_back(kind(i));
                Times delays([&](int i, Stream&) { return kind(i); }, 0);
                const auto trace = timed(
                    "ringmaster", {{"staleness-cap", std::to_string(r - 1)}, {"stop-stale", stop}},
                    16, delays, 1000);
                const auto bound = most_seconds(r, times);
                for (std::size_t k = 0; k < trace.rounds.size(); ++k) {
                    EXPECT_LT(trace.rounds[k].staleness_max, r);
                    const auto before = static_cast<std::size_t>(r);
                    const auto began = k < before ? 0 : trace.rounds[k - before].time;
                    ASSERT_LE(trace.rounds[k].time - began, bound + 1e-9);
                }
            }
}

TEST(Ringmaster, StopsThrowMoreTasksAway)
{
    const auto thrown_away = [](const char* stop) {
        // Just unlike multiples, so that workers with smaller numbers come first where they would
        // come at once.
        Times times([](int i, Stream&) { return i + 1 + 1e-9 * i; }, 0);
        const auto trace = timed("ringmaster", {{"staleness-cap", "3"}, {"stop-stale", stop}}, 16,
                                 times, 4000, Arrivals::all);
        // Of those given before the last that was used, and not counting those that run then.
        std::int64_t last = 0;
        for (const auto& arrival : trace.arrivals) last = std::max(last, arrival.task);
        return last + 1 - 4000;
    };
    EXPECT_NEAR(static_cast<double>(thrown_away("")), 5008, 16);
    EXPECT_NEAR(static_cast<double>(thrown_away("on")), 14000, 50);
}

// B = 32 gradients of 10 s by 8 workers, whose messages take 100 s: those of B / n local steps come
// together.
TEST(LocalSteps, TakeOneMessageForAll)
{
    const auto seconds = [](const std::string& scheme, Options options, std::int64_t updates) {
        options.insert({{"dry", "on"},
                        {"scheme", scheme},
                        {"workers", "8"},
                        {"rows", "8"},
                        {"row-time", "10"},
                        {"uplink-delay", "constant:100"},
                        {"rounds", std::to_string(3 * updates)}});
        return simulate(make_settings(simulation_options(), options)).rounds.back().time / 3;
    };
    EXPECT_NEAR(seconds("k-batch-sync", {{"collect", "32"}}, 1), 4 * 110, 1e-9);
    EXPECT_NEAR(seconds("ringmaster", {{"staleness-cap", "31"}}, 32), 4 * 110, 1e-9);
    EXPECT_NEAR(seconds("local-sgd", {{"total", "32"}, {"local-steps", "4"}}, 1), 140, 1e-9);
    // Answers come in another order each time.
    EXPECT_NEAR(seconds("async-local", {{"staleness-cap", "14"}, {"local-steps", "4"}}, 8), 140,
                1e-9);
}

double log_normal(double s, Stream& stream) { return std::exp(s * stream.normal()); }

// The mean of a quantity over five seeds, which is shown with half of its 95 % interval.
double mean_of(const std::string& what, const std::function<double(std::uint64_t seed)>& measure)
{
    std::vector<double> all;
    for (std::uint64_t seed = 0; seed < 5; ++seed) all.push_back(measure(seed));
    const double mean = std::reduce(all.begin(), all.end()) / 5;
    double squares = 0;
    for (const auto one : all) squares += (one - mean) * (one - mean);
    constexpr double student = 2.776;  // for four degrees of freedom
    fmt::print("{}: {:.2f} +- {:.2f}\n", what, mean, student * std::sqrt(squares / 4 / 5));
    return mean;
}

TEST(Restarts, TheBestLimitIsTheLeastCostOfASuccess)
{
    // One second, and what is random, whose best limits are known from quadrature.
    const auto best = [](const Times::Draw& draw) {
        Stream stream(1, Purpose::probe);
        std::vector<double> times;
        for (int i = 0; i < 100000; ++i) times.push_back(1 + draw(0, stream));
        return best_restart(times);
    };
    EXPECT_NEAR(best([](int, Stream& s) { return log_normal(2, s); }), 2.534, 0.15);
    EXPECT_NEAR(best([](int, Stream& s) { return log_normal(3, s); }), 1.812, 0.1);
    EXPECT_EQ(best([](int, Stream& s) { return 0 * s.uniform(); }), never);
    // For exponential times no limit is better than none, but some are hardly worse.
    EXPECT_GT(best([](int, Stream& s) { return s.exponential(1); }), 5);
}

// The cost of a success, (tau + E[min(X, t)]) / P(X <= t), from P(X <= t), with tau = 1, where it
// is least.
std::pair<double, double> least_cost(const std::function<double(double)>& probability, double end)
{
    double least = unlimited, at = 0, within = 0, before = 1;
    constexpr int steps = 400'000;
    const double ratio = std::pow(end / 1e-6, 1.0 / steps);
    double t = 1e-6;
    within = t;
    for (int i = 0; i < steps; ++i) {
        const double next = t * ratio, late = 1 - probability(next);
        within += (next - t) * (before + late) / 2;  // the integral of P(X > t) is E[min(X, t)]
        t = next;
        before = late;
        if (const double cost = (1 + within) / (1 - late); cost < least) {
            least = cost;
            at = t;
        }
    }
    return {least, at};
}

TEST(Restarts, LeastCostsAreThoseOfQuadrature)
{
    const auto log_normal_below = [](double s) {
        return [s](double t) { return std::erfc(-std::log(t) / s / std::sqrt(2)) / 2; };
    };
    const struct {
        std::function<double(double)> probability;
        double cost, at;
    } table[] = {
        {log_normal_below(1), 2.610, 5.53},
        {log_normal_below(2), 3.268, 1.534},
        {log_normal_below(3), 3.229, .812},
        {[](double t) { return 1 - std::pow(1 + t, -1.5); }, 2.279, 2.418},
        {[](double t) { return std::erfc(std::sqrt(.5 / (2 * t))); }, 3.472, 1.558},
    };
    for (const auto& one : table) {
        const auto [cost, at] = least_cost(one.probability, 200);
        EXPECT_NEAR(cost, one.cost, 1e-3);
        EXPECT_NEAR(at, one.at, 5e-3 * one.at);
    }
    // Of exponential times no limit is the best: the cost falls as long as the limit grows.
    const auto [cost, at] = least_cost([](double t) { return 1 - std::exp(-t); }, 30);
    EXPECT_NEAR(cost, 2, 1e-3);
    EXPECT_GT(at, 15);
}

TEST(Restarts, HelpWhereTailsAreHeavy)
{
    const auto seconds = [](const char* scheme, double s, const Options& options) {
        const auto what = fmt::format("s = {}, {}{}, seconds", s, scheme,
                                      words_of({options.begin(), options.end()}));
        return mean_of(what, [&](std::uint64_t seed) {
            Times times([s](int, Stream& stream) { return 1 + log_normal(s, stream); }, seed);
            return seconds_an_update(timed(scheme, options, 10, times, 100));
        });
    };
    const Options plain = {{"collect", "100"}};
    const auto restarted = [&](const char* limit) {
        return Options{{"collect", "100"}, {"restart-after", limit}};
    };
    // One seed of other draws gave 148.6, 32.6 and 36.0; 54.5, 33.1 and 38.3; 26.9, 26.8 and 35.3.
    EXPECT_NEAR(seconds("k-batch-sync", 3, plain), 148.6, 8);
    EXPECT_NEAR(seconds("k-batch-sync", 3, restarted("1.812")), 32.6, 0.7);
    EXPECT_NEAR(seconds("mindflayer", 3, restarted("1.812")), 36.0, 1.5);
    EXPECT_NEAR(seconds("k-batch-sync", 2, plain), 54.5, 1.5);
    EXPECT_NEAR(seconds("k-batch-sync", 2, restarted("2.534")), 33.1, 0.7);
    EXPECT_NEAR(seconds("mindflayer", 2, restarted("2.534")), 38.3, 1.5);
    EXPECT_NEAR(seconds("k-batch-sync", 1, plain), 26.9, 0.6);
    EXPECT_NEAR(seconds("k-batch-sync", 1, restarted("6.53")), 26.8, 0.6);
    EXPECT_NEAR(seconds("mindflayer", 1, restarted("6.53")), 35.3, 0.8);
    // Limits that are learned, the rounds in which there are none yet included.
    EXPECT_LT(seconds("k-batch-sync", 3, restarted("auto")), 42);
    EXPECT_LT(seconds("k-batch-sync", 2, restarted("auto")), 37);
    EXPECT_LT(seconds("k-batch-sync", 1, restarted("auto")), 28);
    EXPECT_LT(seconds("mindflayer", 3, plain), 43);
    EXPECT_LT(seconds("mindflayer", 2, plain), 46);
    EXPECT_LT(seconds("mindflayer", 1, plain), 43);
}

TEST(MindFlayer, ChoosesTrialsAsItsAuthors)
{
    const std::vector<WorkerTrials> trials = {{.5, 1}, {.6, 2}, {.7, 4}, {.8, 40}};
    EXPECT_EQ(chosen_trials(10, trials), (std::vector{12, 6, 3, 0}));
    const std::vector<WorkerTrials> unknown = {{1, never}, {1, never}};
    EXPECT_EQ(chosen_trials(10, unknown), (std::vector{0, 0}));
    const std::vector<WorkerTrials> one = {{1, 5}, {1, never}};
    EXPECT_EQ(chosen_trials(1, one), (std::vector{1, 0}));
}

TEST(Ata, TheGreedyAllocationIsOptimal)
{
    EXPECT_EQ(least_longest(7, std::vector<double>{1, 2, 4}), (std::vector{4, 2, 1}));
    std::vector<double> of_i(17);
    std::iota(of_i.begin(), of_i.end(), 1);
    const auto seventeen = least_longest(23, of_i);
    EXPECT_EQ(seventeen, (std::vector{9, 4, 3, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
    // Against all allocations.
    Stream random(1, Purpose::probe);
    for (int instance = 0; instance < 200; ++instance) {
        std::vector<double> seconds;
        for (int i = 0; i < 4; ++i) seconds.push_back(0.1 + random.uniform());
        const auto longest = [&](const std::vector<int>& a) {
            double most = 0;
            for (std::size_t i = 0; i < 4; ++i) most = std::max(most, a[i] * seconds[i]);
            return most;
        };
        double least = unlimited;
        for (int a = 0; a <= 6; ++a)
            for (int b = 0; a + b <= 6; ++b)
                for (int c = 0; a + b + c <= 6; ++c)
                    least = std::min(least, longest({a, b, c, 6 - a - b - c}));
        EXPECT_DOUBLE_EQ(longest(least_longest(6, seconds)), least);
    }
}

// Mean seconds of a round in which worker i computes a_i tasks of (i + 1)(1 + Exp(1)) seconds, and
// its mean work.
std::pair<double, double> fixed_allocation(const std::vector<int>& tasks, int rounds)
{
    double seconds = 0, work = 0;
    for (int round = 0; round < rounds; ++round) {
        Stream stream(1, Purpose::probe, static_cast<std::uint32_t>(round));
        double last = 0;
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            double time = 0;
            for (int task = 0; task < tasks[i]; ++task)
                time += (static_cast<double>(i) + 1) * (1 + stream.exponential(1));
            work += time / rounds;
            last = std::max(last, time);
        }
        seconds += last / rounds;
    }
    return {seconds, work};
}

class AtaTimes : public testing::TestWithParam<int> {};

TEST_P(AtaTimes, SpareTheTimeOfSlowWorkers)
{
    const int n = GetParam();
    // Mean seconds of a round, and seconds that workers are busy in it: those of k-batch-sync are
    // so always.
    const auto measured = [n](const char* scheme, const Options& options) {
        constexpr int rounds = 4000;
        std::vector<double> busy;
        const auto what =
            fmt::format("n = {}, {}{}", n, scheme, words_of({options.begin(), options.end()}));
        const auto seconds = mean_of(what + ", seconds", [&](std::uint64_t seed) {
            Times times([](int i, Stream& s) { return (i + 1) * (1 + s.exponential(1)); }, seed, n);
            const auto trace = timed(scheme, options, n, times, rounds, Arrivals::all);
            busy.push_back(0);
            for (const auto& arrival : trace.arrivals)
                busy.back() += (arrival.delay + arrival.compute) / rounds;
            return seconds_an_update(trace);
        });
        if (std::string(scheme) == "k-batch-sync") return std::pair(seconds, n * seconds);
        return std::pair(seconds, mean_of(what + ", of workers",
                                          [&](std::uint64_t seed) { return busy[seed]; }));
    };
    const auto greedy = measured("k-batch-sync", {{"collect", "23"}});
    std::vector<double> means(static_cast<std::size_t>(n));
    std::iota(means.begin(), means.end(), 1);
    const auto fixed = fixed_allocation(least_longest(23, means), 100'000);
    fmt::print("n = {}, the best fixed allocation: {:.2f} s, {:.1f} s of work\n", n, fixed.first,
               fixed.second);
    EXPECT_NEAR(fixed.first, 26.9, 0.1);
    EXPECT_NEAR(fixed.second, 138, 0.5);  // 2 (9 1 + 4 2 + 3 3 + 2 4 + 5 + 6 + 7 + 8 + 9)
    const auto learned = measured("ata", {{"tasks", "23"}});
    const auto theory = measured("ata", {{"tasks", "23"}, {"exploration", "21.75"}});
    // Seconds, then those of workers.
    const bool few = n == 17;
    EXPECT_NEAR(greedy.first, 17.0, 0.1);
    EXPECT_NEAR(greedy.second, few ? 289 : 865, few ? 2 : 6);
    EXPECT_NEAR(learned.first, few ? 27 : 29, 0.4);
    EXPECT_NEAR(learned.second, few ? 139 : 144, 2.5);
    EXPECT_NEAR(theory.first, few ? 71 : 154, few ? 1 : 2);
    EXPECT_NEAR(theory.second, few ? 414 : 1194, few ? 5 : 15);
}
INSTANTIATE_TEST_SUITE_P(FewAndMany, AtaTimes, testing::Values(17, 51));

TEST(Ata, EvenWorkOnThoseOfWhomLittleIsKnown)
{
    const std::vector<TaskTimes> times = {{1, 100000}, {0, 0}, {1, 5}, {2, 5}};
    EXPECT_EQ(allocation(4, times, 21.75, 10), (std::vector{0, 2, 1, 1}));
    EXPECT_EQ(allocation(4, times, 0, 10), (std::vector{0, 4, 0, 0}));
    const std::vector<TaskTimes> known = {{1, 1000}, {2, 1000}, {4, 1000}};
    EXPECT_EQ(allocation(7, known, 0.2, 10), (std::vector{4, 2, 1}));
}

// ---- legal runs
// ---------------------------------------------------------------------------------------

TEST(NewestPoint, GoesOnWhenAlmostNoTaskIsInTime)
{
    const std::pair<const char*, Options> ways[] = {
        {"k-batch-sync", {{"restart-after", "2"}}},
        {"k-batch-sync", {{"restart-after", "auto"}, {"collect", "40"}}},
        {"mindflayer", {{"restart-after", "2"}, {"trials", "2"}}},
        {"mindflayer", {{"restart-after", "2"}, {"estimator", "expected"}}},
        {"mindflayer", {{"collect", "20"}}},
    };
    for (const auto& [name, options] : ways)
        for (const double empty : {0.2, 0.95, 1.0}) {
            const auto scheme = make_scheme(name, {4, 1000, 1}, options);
            LegalRun run(*scheme, 3);
            run.empty = empty;
            run.run(30);
            EXPECT_EQ(run.steps.size(), 30U) << name << " " << empty;
            EXPECT_LE(run.most_alive, 100U) << name << " " << empty;
        }
}

TEST(Malenia, TakesEnoughOfEachWorker)
{
    for (unsigned seed = 0; seed < 20; ++seed) {
        const auto scheme = make_scheme(MaleniaOptions{.collect = 10, .most = 5}, {4, 1000, 1});
        LegalRun run(*scheme, seed);
        // Worker 3 is the slowest.
        run.choose = [&](const std::vector<Worker>& busy, std::int64_t) {
            for (const auto worker : busy)
                if (worker != 3 && seed % 2 == 0) return worker;
            return busy[static_cast<std::size_t>(run.log.size()) % busy.size()];
        };
        run.run(20);
        ASSERT_EQ(run.steps.size(), 20U);
        EXPECT_LE(run.most_alive, 20U);
        for (const auto& step : run.steps) {
            // Weights of 250 rows over the samples of each worker, who takes all of its rows each
            // time.
            std::map<double, int> batches;
            double sum = 0;
            for (const auto& term : step.terms) {
                ++batches[term.weight];
                sum += term.weight * 250;
            }
            EXPECT_NEAR(sum / step.divisor, 1, 1e-12);
            double inverse = 0;
            for (const auto& [weight, count] : batches) {
                const double b = 1 / weight;
                EXPECT_LE(b, 5 + 1e-9);
                inverse += count / b / b;
            }
            EXPECT_GT(4 / inverse, 2.5);
        }
    }
}

TEST(Theory, SaysHowMuchToCollectAndWhichStepToTake)
{
    const auto note = [](const char* scheme, const Options& options) {
        const auto made = make_scheme(scheme, {4, 1000, 1}, options);
        std::vector<Action> out;
        made->handle(Start{{0, 1, 2, 3}}, 0, out);
        for (const auto& action : out)
            if (const auto* said = std::get_if<Note>(&action)) return said->text;
        return std::string();
    };
    EXPECT_EQ(note("k-batch-sync", {}), "");
    EXPECT_EQ(note("k-batch-sync", {{"lipschitz", "2"}}),
              "the theory: a step of 0.25, 1 / (2 L); a step of 0.5 for trees of distance R = 1, 2 "
              "min(1 / (2 L), 1 / (2 R L))");
    EXPECT_EQ(
        note("k-batch-sync", {{"lipschitz", "2"}, {"noise", "0.25"}, {"target-gradient", "0.1"}}),
        "the theory: 3 tasks an update, max(1, SIGMA2 / EPS); a step of 0.25, 1 / (2 L); its "
        "authors' code takes 0.3, min(1 / L, EPS S / (2 L SIGMA2)) for S = 3 tasks; a step of 0.15 "
        "for trees of distance R = 2, 3 min(1 / (2 L), 1 / (2 R L), EPS / (4 SIGMA2 L))");
    EXPECT_EQ(note("ringmaster", {}), "");
    EXPECT_EQ(
        note("ringmaster", {{"lipschitz", "2"}}),
        "the theory: a step of 0.0833333 for trees of distance R = 3, min(1 / (2 L), 1 / (2 R "
        "L))");
    EXPECT_EQ(note("ringmaster", {{"noise", "0.25"}, {"target-gradient", "0.1"}}),
              "the theory: a --staleness-cap of 2, by max(1, SIGMA2 / EPS) gradients");
    const Options capped = {{"lipschitz", "2"}, {"staleness-cap", "1"}};
    EXPECT_EQ(
        note("async", capped),
        "the theory: a step of 0.25 for trees of distance R = 1, min(1 / (2 L), 1 / (2 R L))");
    for (const auto* keep_going : {"off", "on"}) {
        auto given = capped;
        given.insert({{"collect", "2"}, {"keep-going", keep_going}});
        EXPECT_EQ(
            note("k-batch-async", given),
            "the theory: a step of 0.166667 for trees of distance R = 3, 2 min(1 / (2 L), 1 / "
            "(2 R L))");
    }
    const Options constants_of_steps = {
        {"lipschitz", "2"}, {"noise", "0.7"}, {"target-gradient", "0.1"}, {"local-steps", "4"}};
    EXPECT_EQ(
        note("local-sgd", constants_of_steps),
        "the theory: 8 steps an update, by max(1, SIGMA2 / EPS); a step of 0.0178571 for trees "
        "of distance R = 7, min(1 / (2 L), 1 / (2 R L), EPS / (4 SIGMA2 L))");
    EXPECT_EQ(note("async-local", constants_of_steps),
              "the theory: a --staleness-cap of 1, by max(1, SIGMA2 / EPS) gradients; a step of "
              "0.0178571 for trees of distance R = 7, min(1 / (2 L), 1 / (2 R L), EPS / (4 SIGMA2 "
              "L))");
    EXPECT_EQ(note("k-async", {{"noise", "0.25"}, {"target-gradient", "0.1"}}),
              "the theory: 3 tasks an update, max(1, SIGMA2 / EPS)");
    EXPECT_EQ(note("malenia", {{"noise", "0.5"}, {"target-gradient", "0.1"}}),
              "the theory: 5 tasks an update, max(1, SIGMA2 / EPS)");
    EXPECT_EQ(
        note("mindflayer", {{"lipschitz", "2"},
                            {"noise", "0.5"},
                            {"target-gradient", "0.1"},
                            {"trials", "2"},
                            {"restart-after", "1"},
                            {"estimator", "expected"},
                            {"success", "0.25"}}),
        "the theory: 5 successes a round, max(1, SIGMA2 / EPS); its authors' code takes a step "
        "of 0.1, min(1 / (2 L), EPS B / (2 L SIGMA2)) for B = 2 successes expected");
    const Options constants = {{"lipschitz", "2"}, {"noise", "0.5"}, {"target-gradient", "0.1"}};
    EXPECT_EQ(
        note("ringleader", constants),
        "the theory, as notes of others have it: a step of 0.01, min(1 / (8 N L), EPS B / (10 "
        "L SIGMA2)) for B = 1, the least harmonic mean of the workers' batches in a table");
    EXPECT_EQ(note("ringleader", {}), "");
    const auto scheme =
        make_scheme(KBatchSyncOptions{.noise = 0.7, .target_gradient = 0.1}, {4, 1000, 1});
    EXPECT_EQ(scheme->needs().answers, 7);
}

TEST(Theory, RefusesWhatDoesNotGoTogether)
{
    const auto refused = [](const char* scheme, const Options& options) {
        return refusal([&] { make_scheme(scheme, {4, 1000, 1, 0, 0.01}, options); });
    };
    EXPECT_EQ(refused("k-batch-sync", {{"noise", "1"}}),
              "--noise is 1, but the theory needs --target-gradient too: give both");
    EXPECT_EQ(refused("k-batch-sync", {{"target-gradient", "1"}}),
              "--target-gradient is 1, but the theory needs --noise too: give both");
    EXPECT_EQ(refused("k-batch-sync", {{"lipschitz", "0"}}),
              "--lipschitz is 0: use a number above 0");
    EXPECT_EQ(refused("k-batch-sync", {{"restart-after", "1"}}),
              "--restart-after is 1, but a task of 250 rows takes 2.5 s: use a longer one, or a "
              "smaller --batch");
    EXPECT_EQ(
        refused("mindflayer", {{"lipschitz", "1"}}),
        "--lipschitz is 1, but this scheme's step follows from the noise too: give --noise and "
        "--target-gradient");
    EXPECT_EQ(refused("mindflayer", {{"success", "0.5"}}),
              "--success is 0.5, but the limit of time is chosen as the run goes: give "
              "--restart-after SECONDS");
    EXPECT_EQ(
        refused("mindflayer", {{"success", "0.5"}, {"restart-after", "3"}, {"trials", "2"}}),
        "--success is 0.5, which does nothing where --trials is a number and --estimator is ratio: "
        "add --estimator expected, or leave it out");
    for (const auto& [option, value] : {std::pair("estimator", "expected"), {"trials", "auto"}}) {
        Options used = {{"success", "0.5"}, {"restart-after", "3"}, {"trials", "2"}};
        used[option] = value;
        EXPECT_EQ(refused("mindflayer", used), "(nothing was refused)") << option;
    }
    EXPECT_EQ(refused("ringleader", {{"lipschitz", "1"}}),
              "--lipschitz is 1, but this scheme's step follows from the constant and the noise: "
              "give --lipschitz, --noise and --target-gradient");
    EXPECT_EQ(refused("ringleader", {{"noise", "1"}, {"target-gradient", "1"}}),
              "--noise is 1, but this scheme's step follows from the constant and the noise: give "
              "--lipschitz, --noise and --target-gradient");
    EXPECT_EQ(refused("async", {{"lipschitz", "1"}}),
              "--lipschitz is 1, but a step follows from it only if no gradient is older than a "
              "limit: give --staleness-cap");
    EXPECT_EQ(refused("async", {{"noise", "1"}, {"target-gradient", "1"}}),
              "--noise is 1, but only a step follows from it here: give --lipschitz too");
    EXPECT_EQ(
        refused("ringmaster", {{"noise", "1"}, {"target-gradient", "1"}, {"staleness-cap", "2"}}),
        "--noise is 1, but only a step follows from it here: give --lipschitz too");
    EXPECT_EQ(refused("k-async", {{"noise", "1"}, {"target-gradient", "0.1"}}),
              "--target-gradient is 0.1, for which an update takes 10 answers of 4 workers: use "
              "--collect, or a larger one");
    EXPECT_EQ(refused("local-sgd", {{"lipschitz", "1"}, {"outer-step", "0.5"}}),
              "--lipschitz is 1, but a step follows from it only if local steps are added up as "
              "they are: leave out --outer-step");
    EXPECT_EQ(refused("local-sgd", {{"noise", "1"}, {"target-gradient", "1"}, {"total", "3"}}),
              "--noise is 1, but only a step follows from it here: give --lipschitz too");
    EXPECT_EQ(refused("mindflayer", {{"trials", "2"}, {"collect", "3"}}),
              "--collect is 3, but --trials says how much a round takes: leave out one of the two");
    EXPECT_EQ(
        refused("malenia", {{"collect", "64"}}),
        "--most is 16, but an update takes more than 64 batches of 4 workers: use at least 17");
    EXPECT_EQ(refused("malenia", {{"collect", "6"}, {"update-at", "each"}}),
              "--collect is 6, but --update-at each takes a batch of each worker: leave it out");
    EXPECT_EQ(refused("ata", {{"tasks", "0"}}), "--tasks is 0: use at least 1");
}

TEST(Ringleader, ARoundTakesTwiceTheSlowestWorkersTimeAtMost)
{
    for (const auto power : {0.5, 1.0, 2.0})
        for (const int n : {2, 5, 8}) {
            Times times([&](int i, Stream&) { return std::pow(i + 1.1, power); }, 0);
            const auto rounds = timed("ringleader", {}, n, times, 20 * n).rounds;
            double last = 0;
            for (std::size_t end = static_cast<std::size_t>(n) - 1; end < rounds.size();
                 end += static_cast<std::size_t>(n)) {
                EXPECT_LE(rounds[end].time - last, 2 * std::pow(n + 0.1, power) + 1e-9);
                last = rounds[end].time;
            }
        }
}

TEST(GradientTables, AreMeansOverThePartitionsAndNotTooStale)
{
    const std::pair<const char*, Options> ways[] = {{"ringleader", {}},
                                                    {"ringleader", {{"points", "newest"}}},
                                                    {"ringleader", {{"most", "1"}}},
                                                    {"ringleader", {{"most", "3"}}},
                                                    {"ia2sgd", {}}};
    for (const auto& [name, options] : ways)
        for (const int n : {1, 2, 5, 8})
            for (unsigned seed = 0; seed < 20; ++seed) {
                const auto scheme = make_scheme(name, {n, 1000, 1}, options);
                LegalRun run(*scheme, seed);
                run.gradient = [](int block, const LegalRun::Vector&) {
                    return LegalRun::Vector{1.0 + block * block};
                };
                run.run(20 * n);
                ASSERT_EQ(run.steps.size(), static_cast<std::size_t>(20 * n)) << name;
                double mean = 0;
                for (int block = 0; block < n; ++block) mean += (1.0 + block * block) / 1000;
                for (std::size_t step = 0; step < run.steps.size(); ++step) {
                    EXPECT_NEAR(run.estimates[step][0], mean, 1e-12 * mean);
                    EXPECT_NEAR(run.steps[step].error, 0, 1e-12);
                    if (std::string(name) != "ringleader") continue;
                    for (const auto version : run.published_at[step])
                        EXPECT_LE(static_cast<Version>(step) - version, 2 * n - 2);
                }
            }
}

TEST(Ringleader, GoesOnWithoutTheDead)
{
    for (const auto* scheme : {"ringleader", "ia2sgd"})
        for (const auto* events : {"4 kill 2", "0.1 kill 2", "30 kill 2; 31 kill 0"}) {
            const auto trace =
                simulate(make_settings(simulation_options(), {{"dry", "on"},
                                                              {"workers", "4"},
                                                              {"rounds", "200"},
                                                              {"scheme", scheme},
                                                              {"events", events},
                                                              {"timeout", "3"},
                                                              {"delay", "exponential:1"}}));
            EXPECT_EQ(trace.status(), "completed") << scheme << ", " << events;
        }
}

// ---- a quadratic with noise
// ---------------------------------------------------------------------------

// f(x) = x'Ax / 2 - b'x in 50 variables, A = tridiag(-1, 2, -1) / 4, b = -e_1 / 4, from sqrt(50)
// e_1. Gradients have normal noise of 0.03 in each variable, and worker i takes 1 + sqrt(i) + |N(0,
// i + 1)| seconds for one.
class NoisyQuadratic {
public:
    static constexpr std::size_t width = 50;
    static constexpr int workers = 100;
    using Vector = std::array<double, width>;

    NoisyQuadratic(const std::string& scheme, const Options& options, double step,
                   std::uint64_t seed)
        : scheme_(make_scheme(scheme, {workers, 10 * workers, seed}, options)), step_(step),
          seed_(seed)
    {
        point_[0] = std::sqrt(static_cast<double>(width));
    }

    // Seconds until f is within 0.05 of its minimum; infinite if that takes more than `limit`.
    double seconds(double limit)
    {
        points_[0] = point_;
        Start start;
        for (int i = 0; i < workers; ++i) start.active.push_back(i);
        handle(start);
        while (!ends_.empty() && now_ < limit) {
            if (gap() <= 0.05) return now_;
            const auto [time, task] = *ends_.begin();
            ends_.erase(ends_.begin());
            now_ = time;
            const auto open = open_.find(task);
            if (open == open_.end()) continue;
            auto& one = open->second;
            const Contribution contribution{{.worker = one.worker,
                                             .part = 0,
                                             .task = task,
                                             .draw = 0,
                                             .samples = 10,
                                             .oldest = one.version,
                                             .newest = one.version},
                                            ++contributions_};
            values_[contributions_] = {task, gradient(points_.at(one.version))};
            handle(Arrived{{contribution}});
        }
        return unlimited;
    }

private:
    struct Open {
        Worker worker;
        Version version;
    };

    void handle(const Event& event)
    {
        std::vector<Action> out;
        scheme_->handle(event, now_, out);
        std::optional<Stepped> stepped;
        for (const auto& action : out) {
            if (const auto* task = std::get_if<Dispatch>(&action)) {
                Stream stream(seed_, Purpose::delay, static_cast<std::uint32_t>(task->task));
                const auto i = static_cast<double>(task->worker);
                open_[task->task] = {task->worker, task->inputs[0]};
                ends_.emplace(
                    now_ + 1 + std::sqrt(i) + std::sqrt(i + 1) * std::abs(stream.normal()),
                    task->task);
            } else if (const auto* close = std::get_if<Close>(&action)) {
                open_.erase(open_.lower_bound(close->first), open_.upper_bound(close->last));
                std::erase_if(values_, [&](const auto& one) {
                    return close->first <= one.second.first && one.second.first <= close->last;
                });
            } else if (const auto* step = std::get_if<Step>(&action)) {
                for (const auto& [id, weight, keep] : step->terms)
                    for (std::size_t i = 0; i < width; ++i)
                        point_[i] -= step_ * weight / step->divisor * 10 * values_.at(id).second[i];
                points_[++version_] = point_;
                stepped = Stepped{.version = version_};
            }
        }
        if (stepped) handle(*stepped);
    }

    static Vector product(const Vector& x)
    {
        Vector y;
        for (std::size_t i = 0; i < width; ++i)
            y[i] = (2 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < width ? x[i + 1] : 0)) / 4;
        return y;
    }

    Vector gradient(const Vector& x)
    {
        auto g = product(x);
        g[0] += 0.25;
        Stream stream(seed_, Purpose::probe, static_cast<std::uint32_t>(contributions_));
        for (auto& element : g) element += 0.03 * stream.normal();
        return g;
    }

    double gap() const
    {
        const auto y = product(point_);
        const double f =
            std::inner_product(point_.begin(), point_.end(), y.begin(), 0.0) / 2 + point_[0] / 4;
        return f + static_cast<double>(width) / (8 * (width + 1.0));
    }

    std::unique_ptr<Scheme> scheme_;
    double step_;
    std::uint64_t seed_;
    Vector point_ = {};
    std::map<Version, Vector> points_;
    std::set<std::pair<double, TaskId>> ends_;
    std::map<TaskId, Open> open_;
    std::map<ContributionId, std::pair<TaskId, Vector>> values_;
    Version version_ = 0;
    ContributionId contributions_ = 0;
    double now_ = 0;
};

TEST(Ringmaster, IsFasterOnANoisyQuadratic)
{
    const auto best = [](const char* scheme, const std::vector<Options>& ways, std::uint64_t seed) {
        double least = 1000;
        for (const auto& options : ways)
            for (const double step : {.02, .05, .1, .2, .5, 1.0})
                least = std::min(least, NoisyQuadratic(scheme, options, step, seed).seconds(least));
        return least;
    };
    const auto with = [](const char* option, std::vector<std::string> values, const Options& more) {
        std::vector<Options> ways;
        for (const auto& value : values) {
            ways.push_back(more);
            ways.back()[option] = value;
        }
        return ways;
    };
    // An earlier simulation of one seed gave 150, 84, and 62 or 65 s. The last two missed the best
    // of the grid: 62 s is about what R = 20 with a step of 0.1 takes. An independent one of two
    // seeds gave 75 s for rennala, for ringmaster 60 s there, and 34 s at R = 5 with a step of 0.5.
    const auto cap = "staleness-cap";
    const auto async =
        mean_of("async", [&](std::uint64_t seed) { return best("async", {{}}, seed); });
    const auto rennala = mean_of("rennala", [&](std::uint64_t seed) {
        return best("rennala", with("collect", {"5", "20", "80"}, {}), seed);
    });
    const auto ringmaster = mean_of("ringmaster", [&](std::uint64_t seed) {
        return best("ringmaster", with(cap, {"4", "19", "79"}, {}), seed);
    });
    const auto stops = mean_of("ringmaster --stop-stale", [&](std::uint64_t seed) {
        return best("ringmaster", with(cap, {"4", "19", "79"}, {{"stop-stale", "on"}}), seed);
    });
    const auto earlier = mean_of("ringmaster, R = 20, step 0.1", [&](std::uint64_t seed) {
        return NoisyQuadratic("ringmaster", {{cap, "19"}}, 0.1, seed).seconds(400);
    });
    EXPECT_NEAR(async, 144, 8);
    EXPECT_NEAR(rennala, 73, 9);
    EXPECT_NEAR(ringmaster, 35, 4);
    EXPECT_NEAR(stops, 39, 5);
    EXPECT_NEAR(earlier, 60, 4);
}

}  // namespace
}  // namespace quorate
