// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/delay.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support.hpp"

namespace quorate {
namespace {

using test::refusal;

std::unique_ptr<DelayModel> delay(const std::string& text, std::uint64_t seed = 0,
                                  int machines = 30)
{
    const auto settings = test::settings({{"delay", text}});
    return chosen(delays(), settings, "delay").make(settings, {.seed = seed, .machines = machines});
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

TEST(Delays, WrongArgumentsAreRefusedWithTheRightForm)
{
    EXPECT_EQ(refusal([] { delay("constant"); }), "--delay is constant: write constant:SECONDS");
    EXPECT_EQ(refusal([] { delay("constant:1,2"); }),
              "--delay is constant:1,2: write constant:SECONDS");
    EXPECT_EQ(refusal([] { delay("none:1"); }), "--delay is none:1: write none");
    EXPECT_EQ(refusal([] { delay("erasurehead:1"); }),
              "--delay is erasurehead:1: write erasurehead");
    EXPECT_EQ(refusal([] { delay("exponential:-1"); }),
              "--delay is exponential:-1: give numbers of at least 0");
    EXPECT_EQ(refusal([] { delay("exponential:nan"); }),
              "--delay is exponential:nan: give numbers of at least 0");
    EXPECT_EQ(refusal([] { delay("exponental:1"); }),
              "--delay is exponental:1; did you mean exponential?");
}

}  // namespace
}  // namespace quorate
