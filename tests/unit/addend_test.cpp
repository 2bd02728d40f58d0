// SPDX-License-Identifier: BSD-2-Clause
// Sums of several vectors in one pass, against one vector after the other.
#include "compute/addend.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace quorate {
namespace {

constexpr std::size_t parameters = 1003;

// Random vectors of each type of number, at all parameters and at some.
struct DenseAndSparse {
    std::mt19937 random{1};
    std::array<std::vector<double>, 7> doubles;
    std::array<std::vector<float>, 7> floats;
    std::array<std::vector<BFloat16>, 7> shorts;
    Support all = Support::all(parameters), some = Support::all(parameters);

    DenseAndSparse()
    {
        std::uniform_real_distribution<double> uniform(-1, 1);
        std::vector<Index> chosen;
        for (std::size_t i = 0; i < parameters; ++i) {
            for (auto& one : doubles) one.push_back(uniform(random));
            for (auto& one : floats) one.push_back(static_cast<float>(uniform(random)));
            for (auto& one : shorts) one.emplace_back(uniform(random));
            if (uniform(random) > 0.3) chosen.push_back(static_cast<Index>(i));
        }
        some = Support::of(parameters, std::move(chosen));
    }
    // So many of them, in random order. @param dense  only those of doubles at all parameters
    std::vector<Addend> drawn(std::size_t count, bool dense)
    {
        std::vector<Addend> addends;
        std::uniform_int_distribution<std::size_t> which(0, 6);
        for (std::size_t i = 0; i < count; ++i) {
            const auto kind = dense ? 0 : which(random) / 2;
            const auto at = which(random);
            const auto packed = kind == 0   ? Packed(std::span<const double>(doubles[at]))
                                : kind == 1 ? Packed(std::span<const float>(floats[at]))
                                            : Packed(std::span<const BFloat16>(shorts[at]));
            const bool sparse = !dense && which(random) == 0;
            addends.push_back({sparse ? some : all, packed, 0.3 + static_cast<double>(i)});
        }
        return addends;
    }
};

template <class T>
void compare(const std::vector<Addend>& addends, std::size_t first, std::size_t last)
{
    std::vector<T> together(parameters, T(0.1)), one_by_one = together;
    const auto range = [&](std::vector<T>& whole) {
        return Numbers(std::span(whole).subspan(first, last - first));
    };
    add(addends, range(together), first);
    for (const auto& one : addends) add({&one, 1}, range(one_by_one), first);
    EXPECT_TRUE(together == one_by_one) << addends.size() << " in " << first << ".." << last;
}

TEST(Addends, HaveTheBitsOfOneAfterTheOther)
{
    DenseAndSparse vectors;
    for (const bool dense : {true, false})
        for (std::size_t count = 0; count < 30; ++count) {
            const auto addends = vectors.drawn(count, dense);
            compare<double>(addends, 0, parameters);
            compare<double>(addends, 17, 900);
            compare<float>(addends, 0, parameters);
            compare<float>(addends, 17, 900);
        }
}

TEST(Addends, OfARangeAreGatheredAsOfTheWhole)
{
    DenseAndSparse vectors;
    const ConstNumbers whole(vectors.doubles[0]);
    for (const auto* support : {&vectors.all, &vectors.some}) {
        std::vector<double> all(support->size()), ranges(support->size());
        support->gather(whole, all.data());
        std::size_t gathered = 0;
        for (std::size_t first = 0; first < parameters; first += 100) {
            const auto size = std::min<std::size_t>(100, parameters - first);
            const auto begin = static_cast<std::int64_t>(first);
            const auto count =
                support->gather_range(whole.subspan(first, size), begin, ranges.data() + gathered);
            const auto part = support->slice(begin, begin + static_cast<std::int64_t>(size));
            EXPECT_EQ(count, part.size());
            EXPECT_EQ(part.whole(), static_cast<std::int64_t>(size));
            gathered += count;
        }
        EXPECT_EQ(all, ranges);
    }
}

TEST(ColumnSet, ListsAndNumbersItsColumns)
{
    for (const std::int64_t columns : {1, 63, 64, 65, 1003}) {
        ColumnSet set(columns);
        EXPECT_TRUE(set.list().empty());
        std::vector<Index> all;
        for (Index column = 0; column < columns; column += 1 + column % 7) all.push_back(column);
        if (all.back() != columns - 1) all.push_back(static_cast<Index>(columns - 1));
        for (const auto column : all) set.add(column);
        for (const auto column : all) set.add(column);
        EXPECT_EQ(set.list(), all);
        EXPECT_EQ(set.list().capacity(), all.size());
        set.number();
        for (std::size_t i = 0; i < all.size(); ++i)
            EXPECT_EQ(set.number_of(all[i]), static_cast<Index>(i));
    }
}

}  // namespace
}  // namespace quorate
