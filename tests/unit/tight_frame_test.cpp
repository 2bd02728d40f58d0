// SPDX-License-Identifier: BSD-2-Clause
#include "code/tight_frame.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace quorate {
namespace {

using Matrix = std::vector<std::vector<double>>;

// The columns of a frame.
Matrix columns_of(const TightFrame& frame, std::size_t n)
{
    Matrix columns;
    for (std::size_t j = 0; j < n; ++j) {
        std::vector<double> unit(n), column(static_cast<std::size_t>(frame.rows()));
        unit[j] = 1;
        frame.encode(unit, column);
        columns.push_back(std::move(column));
    }
    return columns;
}

void expect_tight(const TightFrame& frame, std::size_t n)
{
    const auto columns = columns_of(frame, n);
    const double redundancy = static_cast<double>(frame.rows()) / static_cast<double>(n);
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b) {
            double product = 0;
            for (std::size_t i = 0; i < columns[a].size(); ++i)
                product += columns[a][i] * columns[b][i];
            EXPECT_NEAR(product, a == b ? redundancy : 0, 1e-12) << a << ' ' << b;
        }
}

TEST(TightFrame, OfHadamardMatricesIsTightAndHasTheRedundancyAskedFor)
{
    for (const std::int64_t n : {1, 2, 5, 16, 17}) {
        const auto frame = hadamard_frame(n, 2, 3);
        EXPECT_GE(frame->rows(), 2 * n);
        EXPECT_LT(frame->rows(), 4 * n);
        expect_tight(*frame, static_cast<std::size_t>(n));
    }
    EXPECT_EQ(hadamard_frame(16, 1, 0)->rows(), 16);
}

TEST(TightFrame, OfSteinerSystemsIsTight)
{
    for (const std::int64_t n : {1, 3, 6, 20, 28}) {
        const auto frame = steiner_frame(n, 3);
        EXPECT_GE(frame->rows(), 2 * n);
        expect_tight(*frame, static_cast<std::size_t>(n));
    }
}

TEST(TightFrame, OfAllPairsIsEquiangularAndMeetsTheWelchBound)
{
    constexpr std::size_t n = 28;  // pairs of 8 points
    const auto frame = steiner_frame(n, 0);
    ASSERT_EQ(frame->rows(), 64);
    const auto columns = columns_of(*frame, n);
    const double welch = std::sqrt((64.0 - n) / (n * 63.0));
    for (std::size_t a = 0; a < 64; ++a)
        for (std::size_t b = 0; b < a; ++b) {
            double product = 0, square = 0;
            for (const auto& column : columns) {
                product += column[a] * column[b];
                square += column[a] * column[a];
            }
            EXPECT_NEAR(std::abs(product) / square, welch, 1e-12);
        }
}

TEST(TightFrame, FollowsFromTheSeed)
{
    const std::vector<double> column = {1, 2, 3, 4, 5};
    const auto encoded = [&](std::uint64_t seed) {
        std::vector<double> to(16);
        hadamard_frame(5, 2, seed)->encode(column, to);
        return to;
    };
    EXPECT_EQ(encoded(1), encoded(1));
    EXPECT_NE(encoded(1), encoded(2));
}

}  // namespace
}  // namespace quorate
