// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "base/index.hpp"

namespace quorate {

/// A view of rows of a data matrix with their labels, wherever they are stored. It owns nothing.
/// Sparse (start != nullptr): compressed sparse rows; all values are one if value == nullptr.
/// Dense: row by row, element (i, j) at dense[i * columns + j].
struct RowView {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    const Index* start = nullptr;   // rows + 1; entries of row i are [start[i], start[i + 1])
    const Index* column = nullptr;  // of all entries: not shifted by slice()
    const double* value = nullptr;
    const double* dense = nullptr;
    const double* label = nullptr;  // rows

    /// The rows [first, first + count). O(1).
    RowView slice(std::int64_t first, std::int64_t count) const
    {
        RowView part = *this;
        part.rows = count;
        if (start) part.start += first;
        if (dense) part.dense += first * columns;
        part.label += first;
        return part;
    }
};

}  // namespace quorate
