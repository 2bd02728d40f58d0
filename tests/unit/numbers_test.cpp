// SPDX-License-Identifier: BSD-2-Clause
#include "base/numbers.hpp"

#include <gtest/gtest.h>

#include <variant>

#include "base/wire.hpp"

namespace quorate {
namespace {

constexpr double third = 1.0 / 3;
constexpr float third_as_float = 1.0F / 3;

TEST(Numbers, AVectorHasOneTypeAndSaysWhich)
{
    const NumberVector doubles(std::vector{third}), floats(doubles, Precision::binary32);
    EXPECT_EQ(doubles.precision(), Precision::binary64);
    EXPECT_EQ(floats.precision(), Precision::binary32);
    EXPECT_EQ(doubles[0], third);
    EXPECT_EQ(floats[0], third_as_float);
    EXPECT_EQ(ConstNumbers(floats).of<float>()[0], third_as_float);
}

TEST(Numbers, NobodyGetsFloatsAsDoubles)
{
    const NumberVector floats(3, Precision::binary32);
    EXPECT_THROW(ConstNumbers(floats).of<double>(), std::bad_variant_access);
    EXPECT_THROW(static_cast<std::span<const double>>(floats), std::bad_variant_access);
    NumberVector doubles(3);
    EXPECT_THROW(add(1, floats, doubles), std::bad_variant_access);
}

TEST(Numbers, FloatsAreAddedUpAsFloats)
{
    NumberVector sum(std::vector{1.0F, 2.0F});
    add(third, std::vector{third_as_float, 5.0F}, sum);
    EXPECT_EQ(sum[0], 1.0F + third_as_float * third_as_float);
    EXPECT_EQ(sum[1], 2.0F + third_as_float * 5.0F);
    clear(Numbers(sum).subspan(1, 1));
    EXPECT_NE(sum[0], 0);
    EXPECT_EQ(sum[1], 0);
}

TEST(Numbers, ACopyIsInTheTypeOfItsTarget)
{
    NumberVector floats(1, Precision::binary32), doubles(1);
    copy(std::vector{third}, floats);
    EXPECT_EQ(floats[0], third_as_float);
    copy(floats, doubles);
    EXPECT_EQ(doubles.doubles(), std::vector<double>{third_as_float});
}

TEST(Numbers, AWireOfTheirTypeChangesNothing)
{
    NumberVector floats(std::vector{third_as_float});
    EXPECT_TRUE(as_in_memory(Wire::binary32, Precision::binary32));
    round(Wire::binary32, floats);
    EXPECT_EQ(floats[0], third_as_float);
    EXPECT_FALSE(as_in_memory(Wire::bfloat16, Precision::binary32));
    round(Wire::bfloat16, floats);
    EXPECT_EQ(floats[0], 0.333984375);
}

TEST(Numbers, AnOddNumberOfFloatsHasRoomInDoubles)
{
    EXPECT_EQ(doubles_for(5, Precision::binary32), 3U);
    EXPECT_EQ(doubles_for(4, Precision::binary32), 2U);
    EXPECT_EQ(doubles_for(5, Precision::binary64), 5U);
}

}  // namespace
}  // namespace quorate
