// SPDX-License-Identifier: BSD-2-Clause
#include "model/dense_products.hpp"

#include <Eigen/Core>
#include <algorithm>

namespace quorate::dense {

namespace {

constexpr int lanes = 4;  // of a vector: those of AVX; other machines use several registers for one

template <int Vectors>
using Packed = Eigen::Array<double, lanes * Vectors, 1>;

template <int Vectors>
Packed<Vectors> load(const double* from)
{
    return Eigen::Map<const Packed<Vectors>>(from);  // unaligned
}

// z[i] = x_i'w of `Rows` rows that stand `columns` apart. The sum of a row has a part for each
// column modulo four, and one for the columns that are left.
template <int Rows>
void dots(const double* x, std::int64_t columns, const double* w, double* z)
{
    Packed<1> sum[Rows];
    for (auto& one : sum) one.setZero();
    std::int64_t j = 0;
    for (; j + lanes <= columns; j += lanes) {
        const auto point = load<1>(w + j);
        for (int i = 0; i < Rows; ++i) sum[i] += load<1>(x + i * columns + j) * point;
    }
    for (int i = 0; i < Rows; ++i) {
        double rest = 0;
        for (auto k = j; k < columns; ++k) rest += x[i * columns + k] * w[k];
        z[i] = sum[i].sum() + rest;
    }
}

// gradient += the sum of r[i] x_i over `Rows` rows, one after the other.
template <int Rows>
void add_rows(const double* x, std::int64_t columns, const double* r, double* gradient)
{
    double weight[Rows];  // not r, which could be written to through the gradient
    std::copy_n(r, Rows, weight);
    std::int64_t j = 0;
    for (; j + lanes <= columns; j += lanes) {
        auto sum = load<1>(gradient + j);
        for (int i = 0; i < Rows; ++i) sum += weight[i] * load<1>(x + i * columns + j);
        Eigen::Map<Packed<1>>(gradient + j) = sum;
    }
    for (; j < columns; ++j) {
        double sum = gradient[j];
        for (int i = 0; i < Rows; ++i) sum += weight[i] * x[i * columns + j];
        gradient[j] = sum;
    }
}

// A row of which only `used` lanes may be read. Other rows are loaded whole: the lanes that belong
// to the next row are of no use, and do no harm.
template <int Vectors>
Packed<Vectors> padded(const double* row, std::int64_t used)
{
    Packed<Vectors> all = Packed<Vectors>::Zero();
    std::copy_n(row, used, all.data());
    return all;
}

// `used` columns of Z, of `Rows` rows: a sum for each, over the columns of X in their order.
template <int Rows, int Vectors>
void multiply(const double* x, std::int64_t columns, const double* w, std::int64_t width,
              std::int64_t used, double* z)
{
    Packed<Vectors> sum[Rows];
    for (auto& one : sum) one.setZero();
    const auto add = [&](std::int64_t j, const Packed<Vectors>& point) {
        for (int i = 0; i < Rows; ++i) sum[i] += x[i * columns + j] * point;
    };
    for (std::int64_t j = 0; j + 1 < columns; ++j) add(j, load<Vectors>(w + j * width));
    add(columns - 1, padded<Vectors>(w + (columns - 1) * width, used));
    for (int i = 0; i < Rows; ++i) std::copy_n(sum[i].data(), used, z + i * width);
}

// `used` columns of the gradient, of `Columns` columns of X: rows are added in their order.
template <int Columns, int Vectors>
void add_outer(const double* x, std::int64_t columns, std::int64_t rows, const double* r,
               std::int64_t width, std::int64_t used, double* gradient)
{
    Packed<Vectors> sum[Columns];
    for (int j = 0; j < Columns; ++j) sum[j] = padded<Vectors>(gradient + j * width, used);
    const auto add = [&](std::int64_t i, const Packed<Vectors>& weights) {
        for (int j = 0; j < Columns; ++j) sum[j] += x[i * columns + j] * weights;
    };
    for (std::int64_t i = 0; i + 1 < rows; ++i) add(i, load<Vectors>(r + i * width));
    add(rows - 1, padded<Vectors>(r + (rows - 1) * width, used));
    for (int j = 0; j < Columns; ++j) std::copy_n(sum[j].data(), used, gradient + j * width);
}

// Calls f<n>(first) for as many times n numbers from `first` to `end` as there are, then for half
// of n, and so on.
template <int Together, class F>
void for_groups(std::int64_t first, std::int64_t end, F f)
{
    for (; first + Together <= end; first += Together) f.template operator()<Together>(first);
    if constexpr (Together > 1) for_groups<Together / 2>(first, end, f);
}

// Twelve sums fit into the registers of AVX beside what is added to them.
template <int Vectors>
constexpr int at_once = 12 / Vectors;

// Calls f<vectors>(first column, columns) for parts of a width of at most three vectors.
template <class F>
void for_parts(std::int64_t width, F f)
{
    constexpr std::int64_t most = std::int64_t{3} * lanes;
    for (std::int64_t c = 0; c < width; c += most) {
        const auto used = std::min(most, width - c);
        if (used > std::int64_t{2} * lanes)
            f.template operator()<3>(c, used);
        else if (used > lanes)
            f.template operator()<2>(c, used);
        else
            f.template operator()<1>(c, used);
    }
}

}  // namespace

void product(const RowView& rows, const double* w, std::int64_t width, double* z)
{
    const auto row = [&](std::int64_t i) { return rows.dense + i * rows.columns; };
    if (width == 1)
        for_groups<8>(0, rows.rows, [&]<int Rows>(std::int64_t i) {
            dots<Rows>(row(i), rows.columns, w, z + i);
        });
    else
        for_parts(width, [&]<int Vectors>(std::int64_t c, std::int64_t used) {
            for_groups<at_once<Vectors>>(0, rows.rows, [&]<int Rows>(std::int64_t i) {
                multiply<Rows, Vectors>(row(i), rows.columns, w + c, width, used,
                                        z + i * width + c);
            });
        });
}

void add_transpose_product(const RowView& rows, const double* r, std::int64_t width,
                           double* gradient)
{
    if (width == 1)
        for_groups<8>(0, rows.rows, [&]<int Rows>(std::int64_t i) {
            add_rows<Rows>(rows.dense + i * rows.columns, rows.columns, r + i, gradient);
        });
    else if (rows.rows > 0)
        for_parts(width, [&]<int Vectors>(std::int64_t c, std::int64_t used) {
            for_groups<at_once<Vectors>>(0, rows.columns, [&]<int Columns>(std::int64_t j) {
                add_outer<Columns, Vectors>(rows.dense + j, rows.columns, rows.rows, r + c, width,
                                            used, gradient + j * width + c);
            });
        });
}

}  // namespace quorate::dense
