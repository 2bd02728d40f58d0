// SPDX-License-Identifier: BSD-2-Clause
#include "model/linear.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "model/dense_products.hpp"

namespace quorate::linear {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using View = Eigen::Map<const Matrix>;

// Eigen cuts the sums of matrix products into blocks by the sizes of the processor's caches. They
// would differ between the hosts of a run, and so the bits of replicas: these sizes hold
// everywhere.
const bool blocks_are_fixed = [] {
    Eigen::setCpuCacheSizes(32 << 10, 1 << 20, 16 << 20);
    return true;
}();

// The numbers of four columns. They are read in pairs: what limits sparse products is how many
// reads a core begins in a cycle, not how many additions.
std::array<std::size_t, 4> four(const Index* column)
{
    if constexpr (sizeof(Index) == 4 && std::endian::native == std::endian::little) {
        std::uint64_t pair[2];
        std::memcpy(pair, column, sizeof pair);
        return {pair[0] & 0xffffffff, pair[0] >> 32, pair[1] & 0xffffffff, pair[1] >> 32};
    } else {
        const auto at = [column](int k) { return static_cast<std::size_t>(column[k]); };
        return {at(0), at(1), at(2), at(3)};
    }
}

// Four running sums, because with one sum each addition would wait four cycles for the one before.
template <class Value>
double dot(const Index* column, std::int64_t entries, const double* w, Value value)
{
    double sum[4] = {0, 0, 0, 0};
    std::int64_t k = 0;
    for (; k + 4 <= entries; k += 4) {
        const auto at = four(column + k);
        for (std::size_t lane = 0; lane < 4; ++lane)
            sum[lane] += value(k + static_cast<std::int64_t>(lane)) * w[at[lane]];
    }
    for (; k < entries; ++k) sum[0] += value(k) * w[column[k]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

template <class Value>
void add_row(const Index* column, std::int64_t entries, double weight, Value value,
             double* gradient)
{
    std::int64_t k = 0;
    for (; k + 4 <= entries; k += 4) {
        const auto at = four(column + k);
        for (std::size_t lane = 0; lane < 4; ++lane)
            gradient[at[lane]] += weight * value(k + static_cast<std::int64_t>(lane));
    }
    for (; k < entries; ++k) gradient[column[k]] += weight * value(k);
}

// Calls f(row, its column numbers, how many, their values as a function of k) for each row.
template <class F>
void for_rows(const RowView& rows, F f)
{
    for (std::int64_t i = 0; i < rows.rows; ++i) {
        const auto first = rows.start[i];
        const auto entries = rows.start[i + 1] - first;
        if (const auto value = rows.value ? rows.value + first : nullptr)
            f(i, rows.column + first, entries, [value](auto k) { return value[k]; });
        else
            f(i, rows.column + first, entries, [](auto) { return 1.0; });
    }
}

void sparse_product(const RowView& rows, const double* w, double* z)
{
    for_rows(rows, [=](auto i, auto column, auto entries, auto value) {
        z[i] = dot(column, entries, w, value);
    });
}

void sparse_transpose_product(const RowView& rows, const double* r, double* gradient)
{
    for_rows(rows, [=](auto i, auto column, auto entries, auto value) {
        add_row(column, entries, r[i], value, gradient);
    });
}

// Calls f(row, value, the first of the column's `width` elements) for each entry.
template <class F>
void for_entries(const RowView& rows, std::int64_t width, F f)
{
    for (std::int64_t i = 0; i < rows.rows; ++i)
        for (auto k = rows.start[i]; k < rows.start[i + 1]; ++k)
            f(i, rows.value ? rows.value[k] : 1.0, rows.column[k] * width);
}

}  // namespace

void product(const RowView& rows, const double* w, std::int64_t width, double* z)
{
    if (!rows.start && width <= dense::most_columns) {
        dense::product(rows, w, width, z);
    } else if (!rows.start) {
        Eigen::Map<Matrix>(z, rows.rows, width).noalias() =
            View(rows.dense, rows.rows, rows.columns) * View(w, rows.columns, width);
    } else if (width == 1) {
        sparse_product(rows, w, z);
    } else {
        std::fill_n(z, rows.rows * width, 0.0);
        for_entries(rows, width, [=](auto i, double value, auto at) {
            for (std::int64_t c = 0; c < width; ++c) z[i * width + c] += value * w[at + c];
        });
    }
}

void add_transpose_product(const RowView& rows, const double* r, std::int64_t width,
                           double* gradient)
{
    if (!rows.start && width <= dense::most_columns) {
        dense::add_transpose_product(rows, r, width, gradient);
    } else if (!rows.start) {
        Eigen::Map<Matrix>(gradient, rows.columns, width).noalias() +=
            View(rows.dense, rows.rows, rows.columns).transpose() * View(r, rows.rows, width);
    } else if (width == 1) {
        sparse_transpose_product(rows, r, gradient);
    } else {
        for_entries(rows, width, [=](auto i, double value, auto at) {
            for (std::int64_t c = 0; c < width; ++c) gradient[at + c] += value * r[i * width + c];
        });
    }
}

std::int64_t tile_rows(const RowView& rows, std::int64_t width)
{
    if (rows.start || width > 1) return tile;
    constexpr std::int64_t entries_in_tile = 1 << 16;  // half a megabyte
    const auto whole = entries_in_tile / std::max<std::int64_t>(1, rows.columns);
    return std::clamp<std::int64_t>(whole / 8 * 8, 8, tile);
}

std::int64_t chunk_rows(double entries_per_row, std::int64_t width)
{
    constexpr double entries_in_chunk = 1 << 16;
    const double per_row = std::max(1.0, entries_per_row * static_cast<double>(width));
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(entries_in_chunk / per_row) / tile) *
           tile;
}

}  // namespace quorate::linear
