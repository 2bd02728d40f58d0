// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/delay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "support.hpp"

namespace quorate {
namespace {

using test::harmonic;
using test::refusal;

// Two workers and three rounds, recorded at half the rows; a quarter of the rows takes a second
// less.
WorkerTimes recorded()
{
    return {.workers = 2, .rounds = 3, .seconds = {1, 2, 3, 0.25, 5, 6}, .load = 0.5, .slope = 4};
}

std::unique_ptr<DelayModel> make(const DelaySetup& setup, const std::string& text)
{
    const auto settings = test::settings({{setup.option, text}});
    return chosen(delays(), settings, setup.option).make(settings, setup);
}

std::unique_ptr<DelayModel> delay(const std::string& text, std::uint64_t seed = 0,
                                  int machines = 30)
{
    return make({.seed = seed,
                 .machines = machines,
                 .read_times = [](const std::string&) { return recorded(); }},
                text);
}

std::unique_ptr<DelayModel> slowdown(const std::string& text, std::uint64_t seed = 0,
                                     int machines = 30)
{
    return make({.option = "slowdown",
                 .neutral = 1,
                 .purpose = Purpose::slowdown,
                 .seed = seed,
                 .machines = machines,
                 .read_times = [](const std::string&) { return recorded(); }},
                text);
}

/// Mean and its standard error.
struct Mean {
    double mean, error, deviation;
};

Mean mean_of(const std::vector<double>& values)
{
    const auto count = static_cast<double>(values.size());
    double sum = 0, square = 0;
    for (const double value : values) sum += value;
    for (const double value : values) square += std::pow(value - sum / count, 2);
    const double deviation = std::sqrt(square / count);
    return {sum / count, deviation / std::sqrt(count), deviation};
}

Mean draws_of(const std::string& text, int count = 200000)
{
    const auto model = delay(text, 3);
    std::vector<double> values;
    for (int i = 0; i < count; ++i) values.push_back(model->draw(i % 10, i / 10, 0));
    return mean_of(values);
}

/// The r-th smallest (from 1) of n machines' draws.
Mean order_statistic(const std::string& text, int n, int r, int rounds = 20000)
{
    const auto model = delay(text, 11, n);
    std::vector<double> values, round(static_cast<std::size_t>(n));
    for (int i = 0; i < rounds; ++i) {
        for (int machine = 0; machine < n; ++machine)
            round[static_cast<std::size_t>(machine)] = model->draw(machine, i, 0);
        std::nth_element(round.begin(), round.begin() + (r - 1), round.end());
        values.push_back(round[static_cast<std::size_t>(r - 1)]);
    }
    return mean_of(values);
}

TEST(Delays, ErasureHeadsFirstDrawsAreThePublicCodes)
{
    const auto model = delay("erasurehead");
    const double first[] = {0.397937, 0.627965, 0.461612, 0.393601, 0.275524};
    for (int worker = 0; worker < 5; ++worker)
        EXPECT_NEAR(model->draw(worker, 0, 0), first[worker], 5e-7) << worker;
}

TEST(Delays, ErasureHeadsDrawsDependOnRoundAndWorkerAlone)
{
    const auto forward = delay("erasurehead", 0, 30), backward = delay("erasurehead", 7, 30);
    std::vector<double> draws;
    for (int round = 0; round < 20; ++round)
        for (int worker = 0; worker < 30; ++worker)
            draws.push_back(forward->draw(worker, round, 0));
    for (int round = 20; round-- > 0;)
        for (int worker = 30; worker-- > 0;)
            EXPECT_EQ(backward->draw(worker, round, 0),
                      draws[static_cast<std::size_t>(round * 30 + worker)]);
    // The draws of few workers are the first of many.
    EXPECT_EQ(delay("erasurehead", 0, 4)->draw(3, 5, 0), forward->draw(3, 5, 0));
}

TEST(Delays, ConstantAndNoneAreWhatTheySay)
{
    EXPECT_EQ(delay("none")->draw(3, 4, 0), 0);
    EXPECT_EQ(delay("constant:0.25")->draw(3, 4, 0), 0.25);
}

TEST(Delays, ExponentialDrawsAreKeyedByWorkerAndDraw)
{
    const auto one = delay("exponential:2", 5), again = delay("exponential:2", 5, 4);
    std::set<double> values;
    for (int worker = 0; worker < 4; ++worker)
        for (int draw = 0; draw < 50; ++draw) {
            EXPECT_EQ(one->draw(worker, draw, 0), again->draw(worker, draw, 0));
            values.insert(one->draw(worker, draw, 0));
        }
    EXPECT_EQ(values.size(), 200u);
    EXPECT_NE(delay("exponential:2", 6)->draw(0, 0, 0), one->draw(0, 0, 0));
    EXPECT_DOUBLE_EQ(delay("exponential:6", 5)->draw(1, 1, 0), 3 * one->draw(1, 1, 0));
}

TEST(Delays, ExponentialDrawsHaveTheirMeanAndDeviation)
{
    const auto model = delay("exponential:0.5", 1);
    constexpr int count = 100000;
    double sum = 0, square = 0;
    for (int i = 0; i < count; ++i) {
        const double x = model->draw(i % 10, i / 10, 0);
        ASSERT_GE(x, 0);
        sum += x;
        square += x * x;
    }
    EXPECT_NEAR(sum / count, 0.5, 5 * 0.5 / std::sqrt(count));
    EXPECT_NEAR(square / count, 0.5, 0.02);  // 2 mean^2
}

TEST(Delays, ShiftedExponentialsOrderStatisticsAreTheClosedForm)
{
    for (const auto& [n, r] : {std::pair{30, 1}, {30, 15}, {30, 25}, {30, 30}, {4, 2}}) {
        const auto got = order_statistic("shifted-exponential:0.25,0.5", n, r);
        EXPECT_NEAR(got.mean, 0.25 + 0.5 * (harmonic(n) - harmonic(n - r)), 4 * got.error)
            << r << " of " << n;
    }
    EXPECT_EQ(delay("shifted-exponential:0,2", 5)->draw(1, 7, 0),
              delay("exponential:2", 5)->draw(1, 7, 0));
    EXPECT_EQ(delay("shifted-exponential:3,0")->draw(1, 7, 0), 3);
}

TEST(Delays, ParetosOrderStatisticsAreTheClosedForm)
{
    const double scale = 2, shape = 3;
    for (const auto& [n, r] : {std::pair{10, 1}, {10, 5}, {10, 9}, {10, 10}, {30, 25}}) {
        const auto got = order_statistic("pareto:2,3", n, r);
        const double expected =
            scale * std::exp(std::lgamma(n + 1) + std::lgamma(n - r + 1 - 1 / shape) -
                             std::lgamma(n - r + 1) - std::lgamma(n + 1 - 1 / shape));
        EXPECT_NEAR(got.mean, expected, 5 * got.error) << r << " of " << n;
    }
    for (int i = 0; i < 1000; ++i) {
        EXPECT_GE(delay("pareto:2,3")->draw(0, i, 0), 2);
        for (const auto* tail : {"pareto:0,0.001", "pareto:3e8,0.001", "pareto:1,1e-300"})
            EXPECT_TRUE(std::isfinite(delay(tail)->draw(0, i, 0))) << tail;
    }
}

TEST(Delays, TheMixturesHaveTheirMomentsAndExtremes)
{
    struct Expected {
        std::string name;
        double mean, deviation, max4, max10, max30, clip, digits;
    };
    for (const auto& [name, mean, deviation, max4, max10, max30, clip, digits] :
         {Expected{"niagara", 0.9957, 1.544, 2.67, 4.01, 5.11, 6.5, 0.005},
          Expected{"cedar", 0.0712, 0.0847, 0.167, 0.224, 0.269, 0.4, 0.0005}}) {
        const auto got = draws_of(name);
        EXPECT_NEAR(got.mean, mean, 4 * got.error) << name;
        EXPECT_NEAR(got.deviation, deviation, 0.01 * deviation) << name;
        for (const auto& [n, max] : {std::pair{4, max4}, {10, max10}, {30, max30}}) {
            const auto last = order_statistic(name, n, n);
            EXPECT_NEAR(last.mean, max, digits + 4 * last.error) << name << " " << n;
        }
        const auto model = delay(name);
        for (int i = 0; i < 20000; ++i) EXPECT_LE(model->draw(i % 30, i / 30, 0), clip) << name;
    }
    EXPECT_EQ(delay("mixture:0/0/0.4,0/0.4/0.3,2/0.3/0.2,5/0.3/0.1", 9)->draw(4, 5, 0),
              delay("niagara", 9)->draw(4, 5, 0));
    EXPECT_EQ(delay("mixture:1.5/0/1")->draw(4, 5, 0), 1.5);
}

TEST(Delays, AMixturesWeightsMayMissOneByRounding)
{
    std::string text = "mixture:";
    for (int i = 0; i < 49; ++i) text += std::to_string(i) + "/0/0.0204081632653,";
    text += "100/0/0.0000000000003";
    std::set<double> seen;
    for (int i = 0; i < 10000; ++i) seen.insert(delay(text)->draw(0, i, 0));
    EXPECT_EQ(seen.size(), 49u);
    EXPECT_EQ(*seen.rbegin(), 48);
}

TEST(Delays, GilbertElliottsChainIsStationaryAndBursty)
{
    constexpr int machines = 200, draws = 2000;
    const double p_bad = 0.05, p_good = 0.2, stationary = p_bad / (p_bad + p_good);
    const auto model = delay("gilbert-elliott:0.05,0.2,7", 2, machines);
    double bad = 0, bursts = 0, both = 0, first = 0, last = 0;
    for (int machine = 0; machine < machines; ++machine) {
        bool before = false;
        for (int draw = 0; draw < draws; ++draw) {
            const double value = model->draw(machine, draw, 0);
            ASSERT_TRUE(value == 0 || value == 7);
            const bool now = value == 7;
            bad += now;
            bursts += now && !before;
            both += now && before;
            if (draw < 20) first += now;
            if (draw >= draws - 20) last += now;
            before = now;
        }
    }
    const double count = machines * draws, fraction = bad / count;
    EXPECT_NEAR(fraction, stationary, 0.007);  // 4 standard errors of a correlated mean
    EXPECT_NEAR(bad / bursts, 1 / p_good, 0.2);
    EXPECT_NEAR((both / count - fraction * fraction) / (fraction * (1 - fraction)),
                1 - p_bad - p_good, 0.01);
    EXPECT_NEAR(first / (20 * machines), stationary, 0.06);
    EXPECT_NEAR(last / (20 * machines), stationary, 0.06);
}

TEST(Delays, TheLogarithmOfALognormalOneIsNormal)
{
    constexpr int draws = 100000;
    constexpr double sigma = 1.5;
    const auto model = delay("lognormal:2,1.5");
    double sum = 0, squares = 0;
    for (int draw = 0; draw < draws; ++draw) {
        const double value = std::log(model->draw(1, draw, 0) / 2);
        sum += value;
        squares += value * value;
    }
    EXPECT_NEAR(sum / draws, 0, 5 * sigma / std::sqrt(draws));
    EXPECT_NEAR(std::sqrt(squares / draws), sigma, 0.02 * sigma);
    EXPECT_DOUBLE_EQ(*model->mean_of_order(1, 1), 2 * std::exp(sigma * sigma / 2));
    EXPECT_FALSE(model->mean_of_order(1, 2));
    EXPECT_EQ(delay("lognormal:2,0")->draw(0, 0, 0), 2);
    EXPECT_EQ(delay("lognormal:0,1e308")->draw(0, 0, 0), 0);
}

TEST(Delays, GammaHasItsMeanAndDeviation)
{
    for (const auto& [text, mean, deviation] :
         {std::tuple("gamma:0.02,0.004", 0.02, 0.004), std::tuple("gamma:1,2", 1.0, 2.0)}) {
        constexpr int draws = 100000;
        const auto model = delay(text);
        double sum = 0, squares = 0;
        for (int draw = 0; draw < draws; ++draw) {
            const double value = model->draw(1, draw, 0);
            sum += value;
            squares += value * value;
        }
        const double found = sum / draws;
        EXPECT_NEAR(found, mean, 5 * deviation / std::sqrt(draws)) << text;
        EXPECT_NEAR(std::sqrt(squares / draws - found * found), deviation, 0.03 * deviation);
    }
    EXPECT_EQ(delay("gamma:3,0")->draw(0, 0, 0), 3);
    EXPECT_EQ(delay("gamma:0,3")->draw(0, 0, 0), 0);
}

TEST(Delays, UnevenMachinesDifferAndHaveBursts)
{
    constexpr int machines = 10, draws = 20000;
    const auto still = slowdown("uneven:0,0.4,0,1,1,1,3,9,2", 1, machines);
    for (const auto& [machine, value] :
         {std::pair(0, 1.0), std::pair(5, 1.2), std::pair(9, 3 * 1.36), std::pair(2, 3 * 1.08)})
        EXPECT_DOUBLE_EQ(still->draw(machine, 7, 0), value) << machine;
    // A step of the bursts lasts ten draws.
    const auto bursts = slowdown("uneven:0,0,0.1,0.3,2,10", 1, machines);
    double bad = 0;
    for (int draw = 0; draw < draws; ++draw) {
        const double value = bursts->draw(4, draw, 0);
        ASSERT_TRUE(value == 1 || value == 2);
        EXPECT_EQ(value, bursts->draw(4, draw / 10 * 10, 0));
        bad += value == 2;
    }
    EXPECT_NEAR(bad / draws, 0.25, 0.05);
    const auto noise = slowdown("uneven:0.05,0,0,1,1,1", 1, machines);
    double sum = 0;
    for (int draw = 0; draw < draws; ++draw) sum += noise->draw(3, draw, 0);
    EXPECT_NEAR(sum / draws, 1, 5 * 0.05 / std::sqrt(draws));
}

TEST(Delays, GilbertElliottsExtremesAreAsTheySay)
{
    for (int draw = 0; draw < 50; ++draw) {
        EXPECT_EQ(delay("gilbert-elliott:0,0.5,3")->draw(0, draw, 0), 0);
        EXPECT_EQ(delay("gilbert-elliott:0.5,0,3")->draw(0, draw, 0), 3);
        const auto alternating = delay("gilbert-elliott:1,1,3");
        EXPECT_NE(alternating->draw(0, draw, 0), alternating->draw(0, draw + 1, 0));
    }
}

TEST(Delays, FixedWorkersAreSlowAlways)
{
    const auto model = delay("fixed:2.5,3,0", 0, 5);
    for (int draw = 0; draw < 3; ++draw) {
        EXPECT_EQ(model->draw(0, draw, 0), 2.5);
        EXPECT_EQ(model->draw(1, draw, 0), 0);
        EXPECT_EQ(model->draw(3, draw, 0), 2.5);
        EXPECT_EQ(model->draw(4, draw, 0), 0);
    }
}

TEST(Delays, AHalfNormalHasItsMeanAndDeviation)
{
    const auto got = draws_of("half-normal:0.5");
    EXPECT_NEAR(got.mean, 0.5 * std::sqrt(2 / std::numbers::pi), 4 * got.error);
    EXPECT_NEAR(got.deviation, 0.5 * std::sqrt(1 - 2 / std::numbers::pi), 0.003);
}

TEST(Delays, RecordedTimesAreReplayedAlongTheirSlope)
{
    const auto model = delay("trace:x", 0, 2);
    EXPECT_EQ(model->draw(0, 0, 0.5), 1);
    EXPECT_EQ(model->draw(0, 2, 0.5), 3);
    EXPECT_EQ(model->draw(1, 1, 0.5), 5);
    EXPECT_EQ(model->draw(1, 4, 0.5), 5);  // round 1 again
    EXPECT_EQ(model->draw(0, 3000000000, 0.5), 1);
    EXPECT_EQ(model->draw(1, 1, 0.75), 6);
    EXPECT_EQ(model->draw(1, 1, 0.25), 4);
    EXPECT_EQ(model->draw(1, 0, 0.25), 0);  // would be below
    EXPECT_EQ(delay("trace:x", 0, 1)->draw(0, 1, 0.5), 2);
}

TEST(Delays, TheFileOfATraceMayHaveAnyName)
{
    std::string asked;
    make({.machines = 1,
          .read_times =
              [&](const std::string& path) {
                  asked = path;
                  return recorded();
              }},
         "trace:a:b,c/1.csv");
    EXPECT_EQ(asked, "a:b,c/1.csv");
}

TEST(Delays, WhenReadAsSlowdownsRecordedTimesAreRelativeToTheirMedian)
{
    const auto model = slowdown("trace:x", 0, 2);
    EXPECT_DOUBLE_EQ(model->draw(0, 1, 0.5), 2 / 2.5);
    EXPECT_DOUBLE_EQ(model->draw(1, 2, 1), 6 / 2.5);  // the load is in what it multiplies
}

TEST(Delays, SlowdownsLeaveOthersAsTheyAre)
{
    EXPECT_EQ(slowdown("none")->draw(3, 4, 0), 1);
    EXPECT_EQ(slowdown("constant:2")->draw(3, 4, 0), 2);
    EXPECT_EQ(slowdown("fixed:3,1")->draw(0, 0, 0), 1);
    EXPECT_EQ(slowdown("fixed:3,1")->draw(1, 0, 0), 3);
    const auto bursts = slowdown("gilbert-elliott:0.3,0.3,8");
    std::set<double> seen;
    for (int draw = 0; draw < 100; ++draw) seen.insert(bursts->draw(0, draw, 0));
    EXPECT_EQ(seen, (std::set<double>{1, 8}));
    // Another stream than that of a delay of the same model.
    EXPECT_NE(slowdown("exponential:2")->draw(0, 0, 0), delay("exponential:2")->draw(0, 0, 0));
}

TEST(Delays, EveryModelDrawsTheSameInAnyOrderAndNeverLessThanZero)
{
    const std::vector<std::string> all = {"none",
                                          "constant:0.5",
                                          "exponential:0.5",
                                          "shifted-exponential:0.1,0.5",
                                          "pareto:0.1,1.5",
                                          "lognormal:0.1,1",
                                          "mixture:0/1/0.5,1/0.1/0.5",
                                          "niagara",
                                          "cedar",
                                          "gamma:0.5,0.2",
                                          "gilbert-elliott:0.2,0.4,2",
                                          "uneven:0.1,0.4,0.2,0.4,2,3,5,1",
                                          "fixed:1,0,2",
                                          "half-normal:1",
                                          "erasurehead",
                                          "trace:x"};
    std::vector<std::string> tested;
    for (const auto& text : all) tested.push_back(split(text, ':').front());
    EXPECT_EQ(tested, names(delays())) << "a model that this test does not know";

    constexpr int machines = 2, draws = 40;
    for (const auto& text : all)
        for (const bool slow : {false, true}) {
            for (std::uint64_t seed = 0; seed < 20; ++seed) {
                const int count = text.starts_with("fixed") ? 3 : machines;
                const auto fresh = [&] {
                    return slow ? slowdown(text, seed, count) : delay(text, seed, count);
                };
                const auto forward = fresh(), random = fresh();
                std::vector<double> values;
                for (int draw = 0; draw < draws; ++draw)
                    for (int machine = 0; machine < machines; ++machine) {
                        values.push_back(forward->draw(machine, draw, 0.5));
                        EXPECT_GE(values.back(), 0) << text;
                        EXPECT_TRUE(std::isfinite(values.back())) << text;
                        EXPECT_EQ(values.back(), forward->draw(machine, draw, 0.5)) << text;
                    }
                Stream stream(seed, Purpose::samples);
                for (int i = 0; i < 100; ++i) {
                    const auto at = stream() % values.size();
                    EXPECT_EQ(random->draw(static_cast<int>(at % machines),
                                           static_cast<std::int64_t>(at / machines), 0.5),
                              values[at])
                        << text << " seed " << seed;
                }
            }
        }
}

TEST(Delays, ValuesAreTimesWithUnitsAndFactorsOfSlowdownsAreNot)
{
    for (const auto& [plain, timed] :
         {std::pair{"constant:0.05", "constant:50ms"},
          {"exponential:0.05", "exponential:50ms"},
          {"shifted-exponential:1,0.01", "shifted-exponential:1s,10ms"},
          {"pareto:0.02,1.5", "pareto:20ms,1.5"},
          {"lognormal:0.02,1.5", "lognormal:20ms,1.5"},
          {"mixture:0.1/0.02/0.5,60/0/0.5", "mixture:100ms/20ms/0.5,1min/0s/0.5"},
          {"gamma:0.02,0.004", "gamma:20ms,4ms"},
          {"gilbert-elliott:0.1,0.2,0.00025", "gilbert-elliott:0.1,0.2,250us"},
          {"fixed:3600,1,2", "fixed:1h,1,2"},
          {"fixed:3600,1,2", "fixed: 3600, 1, 2"},
          {"half-normal:0.5", "half-normal:500ms"}}) {
        const auto one = delay(plain), other = delay(timed);
        for (int machine = 0; machine < 4; ++machine)
            EXPECT_EQ(one->draw(machine, 3, 0), other->draw(machine, 3, 0)) << timed;
    }
    EXPECT_EQ(refusal([] { delay("pareto:1,2s"); }),
              "--delay is pareto:1,2s, but SHAPE is 2s, not a number above 0: write "
              "pareto:SCALE,SHAPE");
    EXPECT_EQ(refusal([] { slowdown("constant:2s"); }),
              "--slowdown is constant:2s, but SECONDS is 2s, not a number of at least 0: write "
              "constant:SECONDS");
}

TEST(Delays, WrongArgumentsAreRefusedWithTheRightForm)
{
    const std::string mixture = ": write mixture:MEAN/SD/WEIGHT,...",
                      fixed = ": write fixed:VALUE,WORKER,...",
                      burst = ": write gilbert-elliott:P_BAD,P_GOOD,VALUE",
                      uneven = ": write uneven:SD,SPREAD,P_BAD,P_GOOD,BURST,DRAWS,...";
    const std::vector<std::pair<std::string, std::string>> table = {
        {"constant", ": write constant:SECONDS"},
        {"constant:", ": write constant:SECONDS"},
        {"constant:1,2", ": write constant:SECONDS"},
        {"constant:1,", ": write constant:SECONDS"},
        {"none:1", ": write none"},
        {"erasurehead:1", ": write erasurehead"},
        {"niagara:1", ": write niagara"},
        {"exponential:-1",
         ", but MEAN is -1, not a time of at least 0, such as 0.05 or 50ms: write "
         "exponential:MEAN"},
        {"exponential:nan",
         ", but MEAN is nan, not a time of at least 0, such as 0.05 or 50ms: write "
         "exponential:MEAN"},
        {"exponential:1e999",
         ", but MEAN is 1e999, not a time of at least 0, such as 0.05 or 50ms: write "
         "exponential:MEAN"},
        {"exponental:1", "; did you mean exponential?"},
        {"shifted-exponential:1", ": write shifted-exponential:SHIFT,MEAN"},
        {"shifted-exponential:,1",
         ", but SHIFT is empty, not a time of at least 0, such as 0.05 or 50ms: write "
         "shifted-exponential:SHIFT,MEAN"},
        {"pareto:1,0", ", but SHAPE is 0, not a number above 0: write pareto:SCALE,SHAPE"},
        {"pareto:1,x", ", but SHAPE is x, not a number above 0: write pareto:SCALE,SHAPE"},
        {"lognormal:1", ": write lognormal:MEDIAN,SIGMA"},
        {"mixture:", mixture},
        {"mixture:1/2", ", but 1/2 is not MEAN/SD/WEIGHT" + mixture},
        {"mixture:1/2/1,", ", but a component is not MEAN/SD/WEIGHT" + mixture},
        {"mixture:1/2/0.5", ", but the weights sum to 0.5, not to 1" + mixture},
        {"mixture:1/2/0.5,1/2/0.500001", ", but the weights sum to 1.000001, not to 1" + mixture},
        {"mixture:1/-2/1",
         ", but SD is -2, not a time of at least 0, such as 0.05 or 50ms" + mixture},
        {"mixture:1/2/2", ", but WEIGHT is 2, not a number from 0 to 1" + mixture},
        {"gilbert-elliott:0.1,0.2", burst},
        {"uneven:0.1,0.2", uneven},
        {"uneven:0,0,0,1,1,1,3", ", but no worker is named" + uneven},
        {"uneven:0,0,0,1,1,0", ", but DRAWS is 0, not a whole number of at least 1" + uneven},
        {"uneven:0,0,0,0,1,1", ", but P_BAD and P_GOOD are both 0, which never changes" + uneven},
        {"gamma:1", ": write gamma:MEAN,SD"},
        {"gilbert-elliott:1.5,0.2,1", ", but P_BAD is 1.5, not a number from 0 to 1" + burst},
        {"gilbert-elliott:0.5,2,1", ", but P_GOOD is 2, not a number from 0 to 1" + burst},
        {"gilbert-elliott:0,0,1", ", but P_BAD and P_GOOD are both 0, which never changes" + burst},
        {"fixed:1", ", but no worker is named" + fixed},
        {"fixed:x,1", ", but VALUE is x, not a time of at least 0, such as 0.05 or 50ms" + fixed},
        {"fixed:1,30", ", but WORKER is 30, not a worker from 0 to 29" + fixed},
        {"fixed:1,-1", ", but WORKER is -1, not a worker from 0 to 29" + fixed},
        {"fixed:1,2,", ", but WORKER is empty, not a worker from 0 to 29" + fixed},
        {"fixed:1,2.0", ", but WORKER is 2.0, not a worker from 0 to 29" + fixed},
        {"fixed:1,2,3,2", ", but worker 2 is named twice" + fixed},
        {"half-normal", ": write half-normal:SD"},
        {"trace", ": write trace:FILE"},
        {"trace:x",
         ", which holds times of 2 workers, but there are 30: use --workers 2 or fewer, "
         "or times of more workers"},
    };
    for (const auto& [text, wrong] : table)
        EXPECT_EQ(refusal([&, t = text] { delay(t); }), "--delay is " + text + wrong);

    EXPECT_EQ(
        refusal([] { delay("constant:0.1,exponential:0.2"); }),
        "--delay is constant:0.1,exponential:0.2: give one; an experiment file takes several, "
        "as delay = constant:0.1, exponential:0.2");
    EXPECT_EQ(refusal([] { slowdown("pareto:1"); }),
              "--slowdown is pareto:1: write pareto:SCALE,SHAPE");
    EXPECT_EQ(refusal([] {
                  make({.option = "slowdown",
                        .neutral = 1,
                        .purpose = Purpose::slowdown,
                        .machines = 1,
                        .read_times =
                            [](const std::string&) {
                                return WorkerTimes{.workers = 1, .rounds = 3, .seconds = {0, 0, 1}};
                            }},
                       "trace:x");
              }),
              "--slowdown is trace:x, whose median time is 0, so that nothing can be said to be "
              "slower than it: use it as --delay");
}

}  // namespace
}  // namespace quorate
