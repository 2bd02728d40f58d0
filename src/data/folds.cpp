// SPDX-License-Identifier: BSD-2-Clause
#include "data/folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/random.hpp"

namespace quorate {

namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from, std::int64_t first, std::int64_t count)
{
    if (!from.empty()) to.insert(to.end(), from.begin() + first, from.begin() + first + count);
}

void append_row(RawRows& to, const RawRows& from, std::int64_t row, std::int64_t columns)
{
    to.label.push_back(from.label[static_cast<std::size_t>(row)]);
    if (from.start.empty()) {
        append(to.dense, from.dense, row * columns, columns);
        return;
    }
    const auto begin = from.start[static_cast<std::size_t>(row)];
    const auto count = from.start[static_cast<std::size_t>(row) + 1] - begin;
    append(to.column, from.column, begin, count);
    append(to.value, from.value, begin, count);
    to.start.push_back(std::ssize(to.column));
}

}  // namespace

std::vector<int> stratified_folds(std::span<const double> labels, bool classes, int folds,
                                  std::uint64_t seed)
{
    std::vector<std::size_t> order(labels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Stream(seed, Purpose::folds).shuffle(order);
    if (classes) std::ranges::stable_sort(order, {}, [&](std::size_t row) { return labels[row]; });
    std::vector<int> fold_of(labels.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        fold_of[order[i]] = static_cast<int>(i % static_cast<std::size_t>(folds));
    return fold_of;
}

std::vector<RawRows> read_folds(const DataSet& data, std::span<const int> fold_of, int folds)
{
    constexpr std::int64_t runs = 64;  // that are read one after the other, to save memory
    const auto rows = data.rows(Split::train), size = std::max<std::int64_t>(1, rows / runs);
    std::vector<RawRows> all(static_cast<std::size_t>(folds));
    if (!data.dense())
        for (auto& fold : all) fold.start = {0};
    for (std::int64_t first = 0; first < rows; first += size) {
        const auto read = data.read(Split::train, first, std::min(size, rows - first));
        for (std::int64_t i = 0; i < std::ssize(read.label); ++i) {
            const auto fold = fold_of[static_cast<std::size_t>(first + i)];
            append_row(all[static_cast<std::size_t>(fold)], read, i, data.columns());
        }
    }
    for (const auto& fold : all)
        if (std::ssize(fold.column) > std::numeric_limits<Index>::max())
            throw BadInput(
                fmt::format("a fold of {} holds {} entries, more than this build's indices can "
                            "count: use more --folds, or a PETSc with 64-bit indices",
                            data.path(), std::ssize(fold.column)));
    return all;
}

}  // namespace quorate
