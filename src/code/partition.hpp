// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace quorate {

/// Rows [first, first + count).
using RowRange = std::pair<std::int64_t, std::int64_t>;

/// Returns the rows of partition j of k. Sizes differ by at most one row, and no row is dropped.
/// O(1).
constexpr RowRange partition(std::int64_t rows, int k, int j)
{
    const auto begin = rows * j / k;
    return {begin, rows * (j + 1) / k - begin};
}

/// Returns the rows of all partitions whose sizes are as the shares, rounded, with a row each at
/// least. O(shares).
/// @param rows    as many as shares at least
/// @param shares  above 0; of what is their sum
inline std::vector<RowRange> partition(std::int64_t rows, std::span<const double> shares)
{
    double all = 0, before = 0;
    for (const double share : shares) all += share;
    std::vector<RowRange> ranges;
    std::int64_t begin = 0;
    auto left = static_cast<std::int64_t>(shares.size());
    for (const double share : shares) {
        before += share;
        const auto wanted = std::llround(static_cast<double>(rows) * before / all);
        const auto end = std::clamp<std::int64_t>(wanted, begin + 1, rows - --left);
        ranges.emplace_back(begin, end - begin);
        begin = end;
    }
    return ranges;
}

}  // namespace quorate
