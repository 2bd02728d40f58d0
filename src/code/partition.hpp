// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <utility>

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

}  // namespace quorate
