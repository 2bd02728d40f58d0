// SPDX-License-Identifier: BSD-2-Clause
// Products of rows with matrices: against loops that a reader can check, and whether their bits
// depend on anything but the numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <random>

#include "model/dense_products.hpp"
#include "model/linear.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using Reals = std::vector<double>;

Reals random_reals(std::int64_t count, std::uint32_t seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    Reals all(static_cast<std::size_t>(count));
    for (auto& one : all) one = normal(random);
    return all;
}

struct LinearCase {
    std::int64_t rows, columns, width;
    Reals x = random_reals(rows * columns, 1), w = random_reals(columns * width, 2),
          r = random_reals(rows * width, 3), before = random_reals(columns * width, 4);

    RowView view() const { return {.rows = rows, .columns = columns, .dense = x.data()}; }
    Reals product() const
    {
        Reals z(static_cast<std::size_t>(rows * width));
        linear::product(view(), w.data(), width, z.data());
        return z;
    }
    Reals transpose_product() const
    {
        auto gradient = before;
        linear::add_transpose_product(view(), r.data(), width, gradient.data());
        return gradient;
    }
};

std::vector<LinearCase> linear_cases()
{
    std::vector<LinearCase> all;
    for (const std::int64_t rows : {1, 2, 13, 70})
        for (const std::int64_t columns : {1, 3, 8, 29, 300})
            for (const std::int64_t width : {1, 2, 3, 4, 5, 8, 9, 10, 12, 13, 24, 25, 40})
                all.push_back({rows, columns, width});
    return all;
}

std::size_t at(std::int64_t i, std::int64_t stride, std::int64_t j)
{
    return static_cast<std::size_t>(i * stride + j);
}

// Vectors in memory of just their size, so that the sanitizers see what is read behind it.
TEST(Linear, DenseProductsAreTheirSums)
{
    for (const auto& one : linear_cases()) {
        SCOPED_TRACE(fmt::format("{} x {}, width {}", one.rows, one.columns, one.width));
        const auto z = one.product(), gradient = one.transpose_product();
        for (std::int64_t c = 0; c < one.width; ++c) {
            for (std::int64_t i = 0; i < one.rows; ++i) {
                long double sum = 0;
                for (std::int64_t j = 0; j < one.columns; ++j)
                    sum += static_cast<long double>(one.x[at(i, one.columns, j)]) *
                           one.w[at(j, one.width, c)];
                ASSERT_NEAR(z[at(i, one.width, c)], static_cast<double>(sum), 1e-12);
            }
            for (std::int64_t j = 0; j < one.columns; ++j) {
                long double sum = one.before[at(j, one.width, c)];
                for (std::int64_t i = 0; i < one.rows; ++i)
                    sum += static_cast<long double>(one.x[at(i, one.columns, j)]) *
                           one.r[at(i, one.width, c)];
                ASSERT_NEAR(gradient[at(j, one.width, c)], static_cast<double>(sum), 1e-12);
            }
        }
    }
}

TEST(Linear, CuttingDenseRowsAnywhereChangesNoBitOfNarrowProducts)
{
    std::mt19937 random(5);
    for (const auto& one : linear_cases()) {
        if (one.width > dense::most_columns) continue;
        SCOPED_TRACE(fmt::format("{} x {}, width {}", one.rows, one.columns, one.width));
        Reals z(static_cast<std::size_t>(one.rows * one.width));
        auto gradient = one.before;
        for (std::int64_t first = 0; first < one.rows;) {
            const auto count = std::min<std::int64_t>(one.rows - first, 1 + random() % 20);
            const auto part = one.view().slice(first, count);
            linear::product(part, one.w.data(), one.width, z.data() + first * one.width);
            linear::add_transpose_product(part, one.r.data() + first * one.width, one.width,
                                          gradient.data());
            first += count;
        }
        ASSERT_TRUE(test::same_bits(z, one.product()));
        ASSERT_TRUE(test::same_bits(gradient, one.transpose_product()));
    }
}

// Replicas keep the same numbers at different addresses.
TEST(Linear, BitsOfDenseProductsDependOnNoAddress)
{
    const auto moved = [](const Reals& from, std::size_t by) {
        Reals to(by);
        to.insert(to.end(), from.begin(), from.end());
        return to;
    };
    for (const auto& one : linear_cases())
        for (std::size_t by = 1; by < 8; by += 2) {
            SCOPED_TRACE(fmt::format("{} x {}, width {}", one.rows, one.columns, one.width));
            const auto x = moved(one.x, by), w = moved(one.w, by + 1), r = moved(one.r, by + 2);
            auto z = moved(one.product(), by), gradient = moved(one.before, by + 3);
            auto view = one.view();
            view.dense = x.data() + by;
            linear::product(view, w.data() + by + 1, one.width, z.data() + by);
            linear::add_transpose_product(view, r.data() + by + 2, one.width,
                                          gradient.data() + by + 3);
            ASSERT_TRUE(test::same_bits(z, moved(one.product(), by)));
            gradient.erase(gradient.begin(),
                           gradient.begin() + static_cast<std::ptrdiff_t>(by + 3));
            ASSERT_TRUE(test::same_bits(gradient, one.transpose_product()));
        }
}

// Products of more columns than the kernels of narrow ones take are Eigen's.
TEST(Linear, EigensBlocksDependOnNoProcessor)
{
    EXPECT_EQ(Eigen::l1CacheSize(), 32 << 10);
    EXPECT_EQ(Eigen::l2CacheSize(), 1 << 20);
    EXPECT_EQ(Eigen::l3CacheSize(), 16 << 20);
}

}  // namespace
}  // namespace quorate
