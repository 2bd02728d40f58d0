// SPDX-License-Identifier: BSD-2-Clause
// Rows that are sorted by label: folds, the order of an import, workers that lack a class.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "data/data_set_writer.hpp"
#include "data/folds.hpp"
#include "import/row_order.hpp"
#include "run/warnings.hpp"
#include "support.hpp"

namespace quorate {
namespace {

using Reals = std::vector<double>;

/// Labels 0, 0, ..., 1, 1, ..., so many of each.
Reals sorted(const std::vector<int>& counts)
{
    Reals labels;
    for (std::size_t c = 0; c < counts.size(); ++c)
        labels.insert(labels.end(), static_cast<std::size_t>(counts[c]), static_cast<double>(c));
    return labels;
}

TEST(Folds, HoldAsManyRowsOfEachClassHoweverTheseAreSorted)
{
    const auto labels = sorted({50, 23, 7, 2});
    for (const int folds : {2, 3, 5}) {
        const auto fold_of = stratified_folds(labels, true, folds, 1);
        std::vector<std::vector<int>> count(4, std::vector<int>(static_cast<std::size_t>(folds)));
        std::vector<int> size(static_cast<std::size_t>(folds));
        for (std::size_t row = 0; row < labels.size(); ++row) {
            ++count[static_cast<std::size_t>(labels[row])][static_cast<std::size_t>(fold_of[row])];
            ++size[static_cast<std::size_t>(fold_of[row])];
        }
        count.push_back(size);
        for (const auto& of_class : count) {
            const auto [least, most] = std::ranges::minmax(of_class);
            EXPECT_LE(most - least, 1) << folds;
        }
    }
}

TEST(Folds, FollowFromTheSeedAlone)
{
    const auto labels = sorted({40, 40});
    EXPECT_EQ(stratified_folds(labels, true, 5, 1), stratified_folds(labels, true, 5, 1));
    EXPECT_NE(stratified_folds(labels, true, 5, 1), stratified_folds(labels, true, 5, 2));
    Reals numbers(60);
    std::iota(numbers.begin(), numbers.end(), 0);
    auto fold_of = stratified_folds(numbers, false, 3, 0);
    EXPECT_FALSE(std::ranges::is_sorted(fold_of)) << "numbers are shuffled";
    std::vector<int> by_turns;
    for (int i = 0; i < 60; ++i) by_turns.push_back(i % 3);
    EXPECT_NE(fold_of, by_turns);
    std::ranges::sort(fold_of);
    std::ranges::sort(by_turns);
    EXPECT_EQ(fold_of, by_turns);
}

TEST(Folds, AreReadRowByRow)
{
    const test::Folder folder;
    for (const bool dense : {false, true}) {
        DataSetWriter writer(folder.file("d.h5"), "d", {.columns = 3, .dense = dense}, false,
                             false);
        writer.begin(Split::train);
        for (int i = 0; i < 200; ++i) {
            const double value = i + 1, label = i % 2 == 0 ? 1 : -1;
            if (dense)
                writer.add(Reals{value, 0, 2}, label);
            else if (i % 3 == 0)
                writer.add(std::vector<std::pair<std::int64_t, double>>{}, label);
            else
                writer.add(std::vector<std::pair<std::int64_t, double>>{{0, value}, {2, 2}}, label);
        }
        writer.begin(Split::test);
        writer.finish({}, {});
        std::vector<int> fold_of;
        for (int i = 0; i < 200; ++i) fold_of.push_back(i % 7 == 0 ? 1 : 0);
        const auto folds = read_folds(DataSet(folder.file("d.h5")), fold_of, 2);
        std::vector<std::size_t> next(2);
        for (int i = 0; i < 200; ++i) {
            const auto& fold =
                folds[static_cast<std::size_t>(fold_of[static_cast<std::size_t>(i)])];
            const auto at = next[static_cast<std::size_t>(fold_of[static_cast<std::size_t>(i)])]++;
            EXPECT_EQ(fold.label.at(at), i % 2 == 0 ? 1 : -1);
            if (dense) {
                EXPECT_EQ(fold.dense.at(3 * at), i + 1);
            } else {
                const auto first = static_cast<std::size_t>(fold.start.at(at));
                const auto entries = fold.start.at(at + 1) - fold.start.at(at);
                ASSERT_EQ(entries, i % 3 == 0 ? 0 : 2);
                if (entries > 0) {
                    EXPECT_EQ(fold.value.at(first), i + 1);
                }
            }
        }
        EXPECT_EQ(next, (std::vector<std::size_t>{folds[0].label.size(), folds[1].label.size()}));
    }
}

TEST(Order, SortedLabelsAreFoundAndOthersAreNot)
{
    EXPECT_TRUE(sorted_by_label(sorted({50, 50, 50}), true));
    EXPECT_TRUE(sorted_by_label(sorted({8, 8}), true));
    EXPECT_FALSE(sorted_by_label(sorted({3, 3}), true)) << "by chance";
    EXPECT_FALSE(sorted_by_label(sorted({100, 1}), true)) << "by chance";
    EXPECT_FALSE(sorted_by_label(sorted({100}), true)) << "one class";
    auto twice = sorted({50, 50, 50});
    twice.insert(twice.end(), twice.begin(), twice.begin() + 150);
    EXPECT_TRUE(sorted_by_label(twice, true)) << "two files, one after the other";
    Reals by_turns, numbers, falling, waves;
    for (int i = 0; i < 120; ++i) {
        by_turns.push_back(i % 2);
        numbers.push_back(0.5 * (i / 2));
        falling.push_back(-i);
        waves.push_back(i % 10);
    }
    EXPECT_FALSE(sorted_by_label(by_turns, true));
    EXPECT_TRUE(sorted_by_label(numbers, false));
    EXPECT_TRUE(sorted_by_label(falling, false));
    EXPECT_FALSE(sorted_by_label(waves, false));
    EXPECT_FALSE(sorted_by_label({}, true));
}

/// A scheme of so many workers with a partition each.
Needs needs_of(int workers, std::int64_t rows, bool exact)
{
    Needs needs;
    needs.exact = exact;
    for (int worker = 0; worker < workers; ++worker) {
        const auto first = rows * worker / workers;
        needs.blocks.push_back({first, rows * (worker + 1) / workers - first});
        needs.shard.push_back({worker});
    }
    return needs;
}

TEST(Order, WorkersWithoutAClassAreWarnedOfWhereAnswersMayBeLeftOut)
{
    const auto labels = sorted({50, 50, 50});
    const std::vector<std::string> names = {"a", "b", "c"};
    EXPECT_EQ(lacking_classes(labels, names, needs_of(3, 150, true)), "");
    EXPECT_EQ(
        lacking_classes(labels, names, needs_of(3, 150, false)),
        "3 of 3 workers lack rows of a class, as worker 0 of class b, and this scheme goes on "
        "without some answers, so models may not learn it: import the rows with --shuffle 0");
    EXPECT_EQ(lacking_classes(labels, names, needs_of(50, 150, false)), "") << "too few to tell";
    Reals by_turns;
    for (int i = 0; i < 150; ++i) by_turns.push_back(i % 3);
    EXPECT_EQ(lacking_classes(by_turns, names, needs_of(3, 150, false)), "");
    auto both = needs_of(2, 150, false);
    both.shard = {{0, 1}, {0, 1}};
    EXPECT_EQ(lacking_classes(labels, names, both), "") << "shards of several blocks";
}

}  // namespace
}  // namespace quorate
