// SPDX-License-Identifier: BSD-2-Clause
#include "compressor/compressor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compute/compression.hpp"
#include "compute/task_states.hpp"

namespace quorate {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::shared_ptr<const Compressor> made(const T& given, const CompressorSetup& setup = {})
{
    return T::entry().made(given, setup);
}

// What comes of a vector at its receiver.
std::vector<double> sent(const Compressor& compressor, const std::vector<double>& values,
                         std::uint32_t draw = 0)
{
    Stream stream(7, Purpose::compression, draw);
    // One byte more, and from an odd address: nothing is written behind, nothing need be aligned.
    std::vector<std::byte> bytes(compressor.bytes(values.size()) + 2, std::byte{0x5a});
    compressor.compress(values, stream, &bytes[1]);
    EXPECT_EQ(bytes.front(), std::byte{0x5a});
    EXPECT_EQ(bytes.back(), std::byte{0x5a});
    std::vector<double> received(values.size(), not_a_number);
    compressor.expand(&bytes[1], received);
    return received;
}

std::vector<double> some_numbers(std::size_t size, std::uint32_t draw = 0)
{
    Stream stream(3, Purpose::probe, draw);
    std::vector<double> numbers(size);
    for (auto& number : numbers) number = stream.normal();
    return numbers;
}

double square(const std::vector<double>& all)
{
    double sum = 0;
    for (const auto one : all) sum += one * one;
    return sum;
}

std::vector<double> difference(std::vector<double> one, const std::vector<double>& other)
{
    for (std::size_t i = 0; i < one.size(); ++i) one[i] -= other[i];
    return one;
}

}  // namespace

TEST(Compressor, TopKSendsTheLargest)
{
    const auto half = made(TopKCompressor{0.5});
    EXPECT_EQ(sent(*half, {1, -4, 3, 2}), (std::vector<double>{0, -4, 3, 0}));
    EXPECT_EQ(sent(*half, {2, -2, 2}), (std::vector<double>{2, -2, 0}));  // of equal ones the first
    EXPECT_EQ(sent(*made(TopKCompressor{1e-9}), {1, 5}), (std::vector<double>{0, 5}));
    EXPECT_EQ(sent(*made(TopKCompressor{1}), {1, 5}), (std::vector<double>{1, 5}));
    EXPECT_EQ(sent(*half, {}), std::vector<double>{});
    const auto broken = sent(*half, {1, not_a_number, 1e9, 0});
    EXPECT_TRUE(std::isnan(broken[1]));
    EXPECT_EQ(broken[2], 1e9);
}

TEST(Compressor, BytesAreThoseOfWhatIsSent)
{
    const auto bytes = [](auto given, std::size_t length, Wire wire = Wire::binary64) {
        return made(given, {.wire = wire})->bytes(length);
    };
    EXPECT_EQ(bytes(TopKCompressor{0.01}, 1000), 10U * (2 + 8));
    EXPECT_EQ(bytes(TopKCompressor{0.01}, 100'000, Wire::binary32), 1000U * (4 + 4));
    EXPECT_EQ(bytes(RandKCompressor{0.01}, 1000, Wire::bfloat16), 8 + 10U * 2);
    EXPECT_EQ(bytes(SignCompressor{256}, 1000, Wire::binary32), 4U * 4 + 1000 / 8);
    EXPECT_EQ(bytes(SignCompressor{3}, 7), 3U * 8 + 3);
    EXPECT_EQ(bytes(QsgdCompressor{4, 512}, 1024, Wire::binary32), 2U * 4 + 512);
}

TEST(Compressor, NumbersTravelAsTheWireSays)
{
    for (const auto wire : {Wire::binary64, Wire::binary32, Wire::bfloat16}) {
        const CompressorSetup setup{.wire = wire, .unbiased = false};
        auto values = some_numbers(70'000);
        auto rounded = values;
        round(wire, rounded);
        EXPECT_EQ(sent(*made(TopKCompressor{1}, setup), values), rounded);
        EXPECT_EQ(sent(*made(RandKCompressor{1}, setup), values), rounded);
        std::vector<float> floats(values.begin(), values.end());
        const auto sign = made(SignCompressor{64}, setup);
        Stream stream(1, Purpose::compression);
        std::vector<std::byte> bytes(sign->bytes(floats.size()));
        sign->compress(std::span<const float>(floats), stream, bytes.data());
        std::vector<float> received(floats.size());
        sign->expand(bytes.data(), std::span(received));
        for (std::size_t i = 0; i < floats.size(); ++i)
            ASSERT_EQ(received[i] < 0, floats[i] < 0) << i;
    }
}

TEST(Compressor, SignSendsTheMeanMagnitudeOfABlock)
{
    EXPECT_EQ(sent(*made(SignCompressor{2}), {1, -3, 0, 8, -5}),
              (std::vector<double>{2, -2, 4, 4, -5}));
    const auto broken = sent(*made(SignCompressor{2}), {1, not_a_number, 2, 2});
    EXPECT_TRUE(std::isnan(broken[0]) && std::isnan(broken[1]));
    EXPECT_EQ(broken[2], 2);
}

TEST(Compressor, QsgdSendsALevelNextToEachNumber)
{
    const QsgdCompressor given{3, 4};  // 3 levels above 0
    const auto values = some_numbers(10);
    const auto received = sent(*made(given), values);
    for (std::size_t first = 0; first < values.size(); first += 4) {
        const auto last = std::min(first + 4, values.size());
        const auto norm = std::sqrt(square({&values[first], &values[first] + (last - first)}));
        for (auto i = first; i < last; ++i) {
            const auto level = received[i] / norm * 3;
            EXPECT_NEAR(level, std::round(level), 1e-12);
            EXPECT_LT(std::abs(received[i] - values[i]), norm / 3);
            EXPECT_GE(received[i] * values[i], 0);
        }
    }
    EXPECT_EQ(sent(*made(given), {0, 0}), (std::vector<double>{0, 0}));
    EXPECT_TRUE(std::isnan(sent(*made(given), {1, not_a_number})[0]));
}

TEST(Compressor, TheMeanOverDrawsIsTheVector)
{
    const auto values = some_numbers(12);
    constexpr std::uint32_t draws = 20'000;
    for (const auto& [compressor, variance] :
         {std::pair{made(RandKCompressor{0.25}), 3.0},         // 1 / FRACTION - 1
          std::pair{made(QsgdCompressor{3, 12}), 12. / 9}}) {  // QSGD, lemma 3.1: n / levels^2
        std::vector<double> mean(values.size());
        double error = 0;
        for (std::uint32_t draw = 0; draw < draws; ++draw) {
            const auto received = sent(*compressor, values, draw);
            for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += received[i] / draws;
            error += square(difference(received, values)) / draws;
        }
        EXPECT_LT(error, 1.05 * variance * square(values));
        EXPECT_LT(square(difference(mean, values)), 9 * error / draws);
    }
}

// The contraction that error feedback needs: |C(v) - v|^2 <= (1 - delta) |v|^2.
TEST(Compressor, BiasedOnesContract)
{
    const auto values = some_numbers(1000);
    const CompressorSetup biased{.unbiased = false};
    const auto lost = [&](const auto& given) {
        return square(difference(sent(*made(given, biased), values), values)) / square(values);
    };
    EXPECT_LT(lost(TopKCompressor{0.1}), 0.9);
    EXPECT_NEAR(lost(RandKCompressor{0.1}), 0.9, 0.05);
    // Of normal numbers the mean magnitude is sqrt(2 / pi).
    EXPECT_NEAR(lost(SignCompressor{1000}), 1 - 2 / std::numbers::pi, 0.05);
}

TEST(Compressor, ErrorFeedbackSendsLaterWhatItDidNotSend)
{
    const Compression compression{.compressor = made(TopKCompressor{0.25}), .feedback = true};
    std::vector<std::byte> bytes(compression.compressor->bytes(8));
    TaskState before{}, after{};
    std::vector<double> computed(8), arrived(8);
    for (std::uint32_t task = 0; task < 50; ++task) {
        auto values = some_numbers(8, task);
        for (std::size_t i = 0; i < 8; ++i) computed[i] += values[i];
        compress(compression, 0, task, 0, {task > 0 ? &before : nullptr, &after}, values,
                 bytes.data());
        for (std::size_t i = 0; i < 8; ++i) arrived[i] += values[i];
        for (std::size_t i = 0; i < 8; ++i)
            EXPECT_NEAR(arrived[i] + after.unsent[i], computed[i], 1e-12);
        std::swap(before, after);
    }
    EXPECT_LT(square(before.unsent.doubles()), square(computed));
}

}  // namespace quorate
