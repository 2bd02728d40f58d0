// SPDX-License-Identifier: BSD-2-Clause
// Products of rows with matrices: all that linear models do with data, and the first layer of a
// network. A matrix W has a row for each column of the data, stored row by row. Local; one thread;
// one pass over the entries, 2 x width flops for each.
#pragma once

#include <span>

#include "model/row_view.hpp"

namespace quorate::linear {

/// How many rows are worked on at a time. Their scores and weights stay in the nearest cache, and
/// their entries are still in a cache for the second pass. A multiple of every vector width.
inline constexpr std::int64_t tile = 256;

/// Returns after how many of these rows to turn from one product to the other. Fewer than a tile if
/// a dense product is little more than reading the rows: the second finds them in a near cache
/// then.
std::int64_t tile_rows(const RowView& rows, std::int64_t width);

/// Sets Z = X W. @param w  columns x width  @param z  rows x width, row by row
void product(const RowView& rows, const double* w, std::int64_t width, double* z);

/// Adds X^T R to the gradient. @param r  rows x width, row by row  @param gradient  columns x width
void add_transpose_product(const RowView& rows, const double* r, std::int64_t width,
                           double* gradient);

/// Returns the rows of a chunk: about 65,536 entries, which are 0.2 ms of work at a width of one; a
/// multiple of the tile.
std::int64_t chunk_rows(double entries_per_row, std::int64_t width);

}  // namespace quorate::linear
