// SPDX-License-Identifier: BSD-2-Clause
// Products of dense rows with a matrix of few columns. Their bits depend on the numbers alone: each
// sum has an order of its own, wherever its row stands and whatever rows stand beside it, and no
// buffer's address matters. A BLAS promises none of this, and chooses its kernels by the processor.
#pragma once

#include "model/row_view.hpp"

namespace quorate::dense {

/// Up to this width the kernels here are faster than those of a general matrix product.
inline constexpr std::int64_t most_columns = 24;

/// Sets Z = X W. O(rows x columns x width).
/// @param rows  dense  @param w  columns x width, row by row  @param z  rows x width, row by row
void product(const RowView& rows, const double* w, std::int64_t width, double* z);

/// Adds X^T R to the gradient, one row after the other: cutting the rows changes no bit.
/// O(rows x columns x width). @param r  rows x width, row by row  @param gradient  columns x width
void add_transpose_product(const RowView& rows, const double* r, std::int64_t width,
                           double* gradient);

}  // namespace quorate::dense
