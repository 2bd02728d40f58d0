// SPDX-License-Identifier: BSD-2-Clause
// What --wire rounds numbers to, against exact cases.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/wire.hpp"

namespace quorate {
namespace {

using Reals = std::vector<double>;

double rounded(Wire wire, double number)
{
    Reals one = {number};
    round(wire, one);
    return one[0];
}

// A number that each type of number holds or rounds, and what it becomes.
struct Rounded {
    double number, nearest;
};

void expect(Wire wire, const std::vector<Rounded>& cases)
{
    for (const auto& [number, nearest] : cases)
        for (const double sign : {1.0, -1.0}) {
            const auto got = rounded(wire, sign * number);
            EXPECT_EQ(got, sign * nearest) << number;
            EXPECT_EQ(std::signbit(got), sign < 0) << number;
        }
}

TEST(Wire, FloatsAreTheNearestAndTiesGoToTheEvenOne)
{
    const double unit = std::ldexp(1, -23), least = std::ldexp(1, -149);
    expect(Wire::binary32, {{0, 0},
                            {1, 1},
                            {0.1, 0.1F},
                            {1 + unit / 2, 1},
                            {1 + 3 * unit / 2, 1 + 2 * unit},
                            {1 + unit / 2 + unit / 1024, 1 + unit},
                            {least, least},  // subnormal
                            {5 * least / 2, 2 * least},
                            {least / 2, 0},
                            {3 * least / 4, least}});
}

TEST(Wire, BFloat16KeepsEightBitsAndTiesGoToTheEvenOne)
{
    const double unit = std::ldexp(1, -7), least = std::ldexp(1, -133);
    expect(Wire::bfloat16, {{0, 0},
                            {1, 1},
                            {256, 256},
                            {257, 256},
                            {259, 260},
                            {1 + unit / 2, 1},
                            {1 + 3 * unit / 2, 1 + 2 * unit},
                            {1 + unit / 2 + unit / 1024, 1 + unit},
                            {2 - unit / 4, 2},  // the carry reaches the exponent
                            // To the nearest float first, which is a tie here.
                            {1 + unit / 2 + std::ldexp(1, -40), 1},
                            {least, least},  // subnormal
                            {5 * least / 2, 2 * least},
                            {least / 2, 0}});
}

TEST(Wire, WhatIsTooLargeOrNoNumberStaysSo)
{
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    const double most_float = std::ldexp(2 - std::ldexp(1, -23), 127);
    const double most_bfloat16 = std::ldexp(2 - std::ldexp(1, -7), 127);
    expect(Wire::binary32, {{infinity, infinity}, {1e39, infinity}, {most_float, most_float}});
    expect(Wire::bfloat16, {{infinity, infinity},
                            {1e39, infinity},
                            {most_float, infinity},
                            {most_bfloat16, most_bfloat16}});
    for (const auto wire : {Wire::binary32, Wire::bfloat16})
        for (const auto bits :
             {0x7ff8000000000000U, 0xfff8000000000000U, 0x7fffffffffffffffU, 0x7ff0000000000001U})
            EXPECT_TRUE(std::isnan(rounded(wire, std::bit_cast<double>(bits))));
}

TEST(Wire, DoubleChangesNothing)
{
    const Reals before = {0.1, -1e300, 1e-310};
    auto after = before;
    round(Wire::binary64, after);
    EXPECT_EQ(after, before);
}

TEST(Wire, ARoundedNumberTravelsWithoutAChange)
{
    std::mt19937_64 random(7);
    for (const auto wire : {Wire::binary64, Wire::binary32, Wire::bfloat16}) {
        Reals numbers;
        for (int i = 0; i < 1000; ++i)
            numbers.push_back(std::ldexp(std::normal_distribution()(random), i % 250 - 140));
        const auto exact = numbers;
        round(wire, numbers);
        with_number(wire, [&]<class Number>(Number) {
            std::vector<Number> packed(numbers.size());
            Reals unpacked(numbers.size());
            convert(std::span<const double>(numbers), packed.data());
            convert(std::span<const Number>(packed), unpacked.data());
            EXPECT_EQ(unpacked, numbers);
            convert(std::span<const double>(exact), packed.data());
            convert(std::span<const Number>(packed), unpacked.data());
            EXPECT_EQ(unpacked, numbers) << "packing rounds alike";
        });
        const int digits = wire == Wire::binary64 ? 53 : wire == Wire::binary32 ? 24 : 8;
        for (std::size_t i = 0; i < exact.size(); ++i)
            if (std::abs(exact[i]) > 1e-37) {
                EXPECT_LE(std::abs(numbers[i] - exact[i]),
                          std::ldexp(std::abs(exact[i]), -digits) * (1 + 1e-4));
            }
    }
}

TEST(Wire, ANumberTakesAsManyBytesAsItsTypeHas)
{
    EXPECT_EQ(bytes_of(wire_named("double")), 8U);
    EXPECT_EQ(bytes_of(wire_named("float")), 4U);
    EXPECT_EQ(bytes_of(wire_named("bfloat16")), 2U);
    EXPECT_EQ(bytes_of(wire_named("")), 8U) << "a trace of before there was a choice";
}

}  // namespace
}  // namespace quorate
