// SPDX-License-Identifier: BSD-2-Clause
// Rows that a program has in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "quorate/build.hpp"

namespace quorate {

inline namespace QUORATE_ABI {

/// Dense rows, one after the other: rows x columns numbers. Looked at, not copied.
struct DenseMatrix {
    std::span<const double> values;
    std::int64_t columns = 0;
};

/// Starts or columns of sparse rows, in either width.
using Indices = std::variant<std::span<const std::int32_t>, std::span<const std::int64_t>>;

/// Compressed sparse rows (CSR). Looked at, not copied.
struct CsrMatrix {
    Indices start;                  // rows + 1: where each row's entries begin; the last: their end
    Indices column;                 // of each entry, from 0, ascending in a row
    std::span<const double> value;  // of each entry
    std::int64_t columns = 0;
};

using AnyMatrix = std::variant<DenseMatrix, CsrMatrix>;

/// Rows, and a label for each.
struct LabelledRows {
    AnyMatrix rows;
    std::span<const double> labels;
};

/// What a data set is beyond its rows.
struct DataOptions {
    std::string task = "auto";  // binary, multiclass, regression; auto: by the labels, as `import`
    std::string image;          // CxHxW, if rows are images
    std::string name = "arrays";
};

}  // namespace QUORATE_ABI

}  // namespace quorate
