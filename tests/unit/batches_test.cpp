// SPDX-License-Identifier: BSD-2-Clause
// Samples of rows: who draws them does not matter, and their sum stands for all rows.
#include "scheme/batches.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "data/support.hpp"
#include "model/row_sample.hpp"

namespace quorate {
namespace {

using Integers = std::vector<std::int64_t>;

Needs needs()
{
    Needs needs;
    needs.blocks = {{0, 100}, {100, 300}, {400, 1}};
    needs.shard = {{0, 1, 2}};
    return needs;
}

TEST(Batches, WithoutABatchAllRowsAreTaken)
{
    const Batches batches(needs(), 1, 0);
    EXPECT_TRUE(batches.full());
    EXPECT_EQ(batches.samples(1), 300);
    EXPECT_EQ(batches.samples(), 401);
    EXPECT_EQ(batches.scale(1), 1);
}

TEST(Batches, EachBlockGivesItsShareButAtLeastOneRow)
{
    const Batches batches(needs(), 1, 40);
    EXPECT_FALSE(batches.full());
    EXPECT_EQ(batches.samples(0), 10);
    EXPECT_EQ(batches.samples(1), 30);
    EXPECT_EQ(batches.samples(2), 1);
    EXPECT_EQ(batches.samples(Part{{{0}, {2}}}), 11);
    EXPECT_EQ(batches.scale(1), 10);
}

TEST(Batches, ADrawIsDistinctRowsKeyedBySeedBlockAndDraw)
{
    const Batches batches(needs(), 1, 200), again(needs(), 1, 200), other(needs(), 2, 200);
    for (int block = 0; block < 3; ++block) {
        const auto rows = batches.draw(block, 5);
        EXPECT_EQ(static_cast<std::int64_t>(rows.size()), batches.samples(block));
        EXPECT_TRUE(std::ranges::is_sorted(rows));
        EXPECT_EQ(std::set(rows.begin(), rows.end()).size(), rows.size());
        EXPECT_GE(rows.front(), 0);
        EXPECT_LT(rows.back(), batches.rows(block));
        EXPECT_EQ(rows, again.draw(block, 5));
    }
    EXPECT_NE(batches.draw(1, 5), batches.draw(1, 6));
    EXPECT_NE(batches.draw(1, 5), other.draw(1, 5));
}

TEST(Batches, EveryRowIsDrawnEquallyOften)
{
    const Batches batches(needs(), 7, 40);
    std::vector<int> count(100);
    for (std::int64_t draw = 0; draw < 20000; ++draw)
        for (const auto row : batches.draw(0, draw)) ++count[static_cast<std::size_t>(row)];
    // Binomial(20000, 0.1): mean 2000, standard deviation 42.4.
    for (const int times : count) EXPECT_NEAR(times, 2000, 5 * 42.4);
}

TEST(RowSample, CopiesTheRowsItIsTold)
{
    const Index start[] = {0, 2, 2, 3}, column[] = {0, 1, 1};
    const double value[] = {5, 6, 7}, label[] = {1, -1, 1}, dense[] = {5, 6, 0, 0, 0, 7};
    RowView sparse{
        .rows = 3, .columns = 2, .start = start, .column = column, .value = value, .label = label};
    const RowView full{.rows = 3, .columns = 2, .dense = dense, .label = label};
    const Integers wanted = {0, 2};
    RowSample sample;
    const auto some = sample.take(sparse, wanted);
    EXPECT_EQ(some.rows, 2);
    EXPECT_EQ(std::vector(some.start, some.start + 3), (std::vector<Index>{0, 2, 3}));
    EXPECT_EQ(std::vector(some.value, some.value + 3), (std::vector<double>{5, 6, 7}));
    sparse.value = nullptr;
    EXPECT_EQ(sample.take(sparse, wanted).value, nullptr);
    const auto rows = sample.take(full, wanted);
    EXPECT_EQ(std::vector(rows.dense, rows.dense + 4), (std::vector<double>{5, 6, 0, 7}));
    EXPECT_EQ(rows.label[1], 1);
}

TEST(Support, WidensToTheParametersOfItsColumns)
{
    const auto some = Support::of(5, {1, 3}).widened(2, 3);
    EXPECT_EQ(std::vector(some.chosen().begin(), some.chosen().end()),
              (std::vector<Index>{2, 3, 6, 7, 10, 11, 12}));
    EXPECT_TRUE(Support::all(5).widened(2, 3) == Support::all(13));
    EXPECT_TRUE(Support::of(5, {1, 3}).widened(0, 3) == Support::all(3));
    EXPECT_TRUE(Support::of(5, {1, 3}).widened(1, 0) == Support::of(5, {1, 3}));
}

}  // namespace
}  // namespace quorate
