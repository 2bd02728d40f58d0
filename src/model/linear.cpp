// SPDX-License-Identifier: BSD-2-Clause
#include "model/linear.hpp"

namespace quorate::linear {

namespace {

// Four running sums, because one would wait four cycles for each addition.
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

Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>> matrix(const RowView& rows)
{
    return {rows.dense, rows.rows, rows.columns, Eigen::OuterStride<>(rows.stride)};
}

}  // namespace

void product(const RowView& rows, std::span<const double> w, double* z)
{
    if (!rows.start) {
        Eigen::Map<Eigen::VectorXd>(z, rows.rows).noalias() =
            matrix(rows) * Eigen::Map<const Eigen::VectorXd>(w.data(), rows.columns);
        return;
    }
    for (std::int64_t i = 0; i < rows.rows; ++i) {
        const auto first = rows.start[i];
        const auto entries = rows.start[i + 1] - first;
        const auto value = rows.value ? rows.value + first : nullptr;
        z[i] = value ? dot(rows.column + first, entries, w.data(),
                           [value](auto k) { return value[k]; })
                     : dot(rows.column + first, entries, w.data(), [](auto) { return 1.0; });
    }
}

void add_transpose_product(const RowView& rows, const double* r, std::span<double> gradient)
{
    if (!rows.start) {
        Eigen::Map<Eigen::VectorXd>(gradient.data(), rows.columns).noalias() +=
            matrix(rows).transpose() * Eigen::Map<const Eigen::VectorXd>(r, rows.rows);
        return;
    }
    for (std::int64_t i = 0; i < rows.rows; ++i) {
        const double weight = r[i];
        if (rows.value)
            for (auto k = rows.start[i]; k < rows.start[i + 1]; ++k)
                gradient[static_cast<std::size_t>(rows.column[k])] += weight * rows.value[k];
        else
            for (auto k = rows.start[i]; k < rows.start[i + 1]; ++k)
                gradient[static_cast<std::size_t>(rows.column[k])] += weight;
    }
}

}  // namespace quorate::linear
