// SPDX-License-Identifier: BSD-2-Clause
// What all generalised linear models share: scores z = X w, and gradients X^T r with r = weight(z, y).
#pragma once

#include <Eigen/Core>
#include <span>

#include "model/row_view.hpp"

namespace quorate::linear {

/// Rows worked on at a time: their scores and weights stay in the nearest cache, and their entries
/// are still there for the second look. A multiple of every vector width.
inline constexpr std::int64_t tile = 256;

/// Values for the rows of a tile, aligned. Only multiples of 8 are computed with, the surplus being
/// zeros, so that a row gives the same bits wherever in a tile it stands.
using Tile = Eigen::Array<double, tile, 1>;
inline std::int64_t padded(std::int64_t rows) { return (rows + 7) & ~std::int64_t{7}; }

/// z = X w. @param z  rows.rows elements
void product(const RowView& rows, std::span<const double> w, double* z);

/// gradient += X^T r. @param r  rows.rows elements
void add_transpose_product(const RowView& rows, const double* r, std::span<double> gradient);

/// gradient += coefficient * X^T r, tile by tile, with r = weight(z, y).
/// @param weight  (z, y, r, count): reads z and y, writes r, `count` (a multiple of 8) of each, and
///                returns the sum of the losses of all of them
/// @param padding  the loss of a row with z = 0 and y = 0, counted out again
/// @return sum of the losses
template <class Weight>
double add_gradient(const RowView& rows, std::span<const double> w, double coefficient,
                    std::span<double> gradient, double padding, Weight weight)
{
    double loss = 0;
    Tile z, y, r;
    for (std::int64_t first = 0; first < rows.rows; first += tile) {
        const auto count = std::min(tile, rows.rows - first);
        const auto size = padded(count);
        const auto part = rows.slice(first, count);
        z.segment(count, size - count).setZero();
        y.segment(count, size - count).setZero();
        product(part, w, z.data());
        y.head(count) = Eigen::Map<const Eigen::ArrayXd>(part.label, count);
        loss += weight(z, y, r, size) - static_cast<double>(size - count) * padding;
        if (coefficient != 1) r.head(size) *= coefficient;
        add_transpose_product(part, r.data(), gradient);
    }
    return loss;
}

}  // namespace quorate::linear
