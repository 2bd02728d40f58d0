// SPDX-License-Identifier: BSD-2-Clause
#include "model/linear.hpp"

#include <Eigen/Core>
#include <algorithm>

namespace quorate::linear {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using View = Eigen::Map<const Matrix>;

// Four running sums, because with one sum each addition would wait four cycles for the one before.
template <class Value>
double dot(const Index* column, std::int64_t entries, const double* w, Value value)
{
    double sum[4] = {0, 0, 0, 0};
    std::int64_t k = 0;
    for (; k + 4 <= entries; k += 4)
        for (int lane = 0; lane < 4; ++lane) sum[lane] += value(k + lane) * w[column[k + lane]];
    for (; k < entries; ++k) sum[0] += value(k) * w[column[k]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void sparse_product(const RowView& rows, const double* w, double* z)
{
    for (std::int64_t i = 0; i < rows.rows; ++i) {
        const auto first = rows.start[i];
        const auto entries = rows.start[i + 1] - first;
        const auto value = rows.value ? rows.value + first : nullptr;
        z[i] = value ? dot(rows.column + first, entries, w, [value](auto k) { return value[k]; })
                     : dot(rows.column + first, entries, w, [](auto) { return 1.0; });
    }
}

void sparse_transpose_product(const RowView& rows, const double* r, double* gradient)
{
    for (std::int64_t i = 0; i < rows.rows; ++i) {
        const double weight = r[i];
        if (rows.value)
            for (auto k = rows.start[i]; k < rows.start[i + 1]; ++k)
                gradient[rows.column[k]] += weight * rows.value[k];
        else
            for (auto k = rows.start[i]; k < rows.start[i + 1]; ++k)
                gradient[rows.column[k]] += weight;
    }
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
    if (!rows.start) {
        const View x(rows.dense, rows.rows, rows.columns);
        if (width == 1)  // Eigen would not treat a matrix with one column as a vector
            Eigen::Map<Eigen::VectorXd>(z, rows.rows).noalias() =
                x * Eigen::Map<const Eigen::VectorXd>(w, rows.columns);
        else
            Eigen::Map<Matrix>(z, rows.rows, width).noalias() = x * View(w, rows.columns, width);
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
    if (!rows.start) {
        const View x(rows.dense, rows.rows, rows.columns);
        if (width == 1)
            Eigen::Map<Eigen::VectorXd>(gradient, rows.columns).noalias() +=
                x.transpose() * Eigen::Map<const Eigen::VectorXd>(r, rows.rows);
        else
            Eigen::Map<Matrix>(gradient, rows.columns, width).noalias() +=
                x.transpose() * View(r, rows.rows, width);
    } else if (width == 1) {
        sparse_transpose_product(rows, r, gradient);
    } else {
        for_entries(rows, width, [=](auto i, double value, auto at) {
            for (std::int64_t c = 0; c < width; ++c) gradient[at + c] += value * r[i * width + c];
        });
    }
}

std::int64_t chunk_rows(double entries_per_row, std::int64_t width)
{
    constexpr double entries_in_chunk = 1 << 16;
    const double per_row = std::max(1.0, entries_per_row * static_cast<double>(width));
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(entries_in_chunk / per_row) / tile) *
           tile;
}

}  // namespace quorate::linear
