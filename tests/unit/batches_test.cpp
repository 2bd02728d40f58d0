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
}

Integers taken(SampleStream stream, std::int64_t count)
{
    Integers rows(static_cast<std::size_t>(count));
    stream.take(rows);
    return rows;
}

TEST(Batches, AStreamIsKeyedBySeedBlockAndKey)
{
    const Batches batches(needs(), 1, 200), again(needs(), 1, 200), other(needs(), 2, 200);
    EXPECT_EQ(taken(batches.stream(1, 5), 50), taken(again.stream(1, 5), 50));
    EXPECT_NE(taken(batches.stream(1, 5), 50), taken(batches.stream(1, 6), 50));
    EXPECT_NE(taken(batches.stream(1, 5), 50), taken(other.stream(1, 5), 50));
    EXPECT_NE(taken(batches.stream(0, 5), 50), taken(batches.stream(1, 5), 50));
}

TEST(Batches, AStreamTakesEachRowOnceBeforeAnyTwice)
{
    const Batches batches(needs(), 1, 200);
    auto stream = batches.stream(0, 3);
    Integers before;
    for (int pass = 0; pass < 3; ++pass) {
        Integers rows;
        for (const std::int64_t some : {1, 60, 39}) {
            Integers part(static_cast<std::size_t>(some));
            stream.take(part);
            rows.insert(rows.end(), part.begin(), part.end());
        }
        EXPECT_NE(rows, before) << "each pass has an order of its own";
        before = rows;
        std::ranges::sort(rows);
        for (std::size_t i = 0; i < rows.size(); ++i)
            EXPECT_EQ(rows[i], static_cast<std::int64_t>(i));
    }
}

TEST(Batches, WhoTakesMoreSeesTheSameRowsFirst)
{
    const Batches batches(needs(), 1, 200);
    auto more = taken(batches.stream(1, 0), 70);
    more.resize(20);
    EXPECT_EQ(taken(batches.stream(1, 0), 20), more);
}

TEST(Batches, EveryRowIsDrawnEquallyOften)
{
    const Batches batches(needs(), 7, 40);
    std::vector<int> count(100);
    for (std::int64_t key = 0; key < 20000; ++key)
        for (const auto row : taken(batches.stream(0, key), 10))
            ++count[static_cast<std::size_t>(row)];
    // Binomial(20000, 0.1): mean 2000, standard deviation 42.4.
    for (const int times : count) EXPECT_NEAR(times, 2000, 5 * 42.4);
}

TEST(Batches, RoundedSharesAreScaledSoThatBlocksCountByTheirRows)
{
    // Shares of 9.98, 29.93 and 0.1 samples become 10, 30 and 1.
    const Batches batches(needs(), 1, 40);
    for (int block = 0; block < 3; ++block)
        EXPECT_NEAR(batches.scale(block) * static_cast<double>(batches.samples(block)) / 41,
                    static_cast<double>(batches.rows(block)) / 401, 1e-15);
    Needs equal;
    equal.blocks = {{0, 77}, {77, 77}, {154, 77}};
    EXPECT_EQ(Batches(equal, 1, 33).scale(1), 1);
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
