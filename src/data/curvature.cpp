// SPDX-License-Identifier: BSD-2-Clause
#include "data/curvature.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/text.hpp"
#include "model/linear.hpp"

namespace quorate {

namespace {

double square(std::span<const double> x)
{
    double sum = 0;
    for (const double element : x) sum += element * element;
    return sum;
}

// Rows with what a view of them needs.
struct Rows {
    Rows(RawRows read, std::int64_t columns)
        : raw(std::move(read)), start(raw.start.begin(), raw.start.end())
    {
        const bool dense = start.empty();
        view = {.rows = std::ssize(raw.label),
                .columns = columns,
                .start = dense ? nullptr : start.data(),
                .column = raw.column.data(),
                .value = raw.value.empty() ? nullptr : raw.value.data(),
                .dense = dense ? raw.dense.data() : nullptr,
                .label = raw.label.data()};
    }
    RawRows raw;
    std::vector<Index> start;
    RowView view;
};

// Reads all training rows, or as many as have about four million entries: 64 runs of them, spread evenly.
std::vector<Rows> sample(const DataSet& data)
{
    constexpr double most = 4 << 20;
    constexpr std::int64_t runs = 64;
    const auto rows = data.rows(Split::train);
    const auto entries = static_cast<double>(data.entries(Split::train));
    std::vector<Rows> all;
    if (entries <= most || rows < 2 * runs) {
        all.emplace_back(data.read(Split::train, 0, rows), data.columns());
        return all;
    }
    const auto count = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(static_cast<double>(rows) * most / entries) / runs);
    for (std::int64_t run = 0; run < runs; ++run)
        all.emplace_back(data.read(Split::train, rows / runs * run, count), data.columns());
    return all;
}

double largest_row(const RowView& rows)
{
    double largest = 0;
    for (std::int64_t i = 0; i < rows.rows; ++i) {
        double of_row = 0;
        if (rows.dense)
            of_row =
                square({rows.dense + i * rows.columns, static_cast<std::size_t>(rows.columns)});
        else if (rows.value)
            of_row = square({rows.value + rows.start[i], rows.value + rows.start[i + 1]});
        else
            of_row = static_cast<double>(rows.start[i + 1] - rows.start[i]);
        largest = std::max(largest, of_row);
    }
    return largest;
}

}  // namespace

Curvature measured_curvature(const DataSet& data)
{
    constexpr int iterations = 100;
    constexpr double tolerance = 1e-6;
    const auto blocks = sample(data);
    std::vector<double> v(static_cast<std::size_t>(data.columns())), next(v.size()), scores;
    Stream random(0, Purpose::probe);
    for (auto& element : v) element = random.normal();
    Curvature found{};
    std::int64_t rows = 0;
    for (const auto& block : blocks) {
        rows += block.view.rows;
        found.row_square = std::max(found.row_square, largest_row(block.view));
    }
    for (int i = 0; i < iterations; ++i) {
        const double norm = std::sqrt(square(v));
        if (norm == 0) return found;  // all rows are zero
        for (auto& element : v) element /= norm;
        std::ranges::fill(next, 0.0);
        double quotient = 0;
        for (const auto& block : blocks) {
            scores.resize(block.raw.label.size());
            linear::product(block.view, v.data(), 1, scores.data());
            quotient += square(scores);
            linear::add_transpose_product(block.view, scores.data(), 1, next.data());
        }
        quotient /= static_cast<double>(rows);
        const double before = std::exchange(found.eigenvalue, quotient);
        if (std::abs(quotient - before) <= tolerance * quotient) break;
        std::swap(v, next);
    }
    return found;
}

Curvature curvature_of(const DataSet& data)
{
    const auto attributes = data.attributes();
    const auto number = [&](const char* name) {
        const auto at = attributes.find(name);
        return at == attributes.end() ? std::nullopt : to_real(at->second);
    };
    const auto eigenvalue = number("eigenvalue"), row_square = number("row_square");
    if (eigenvalue && row_square) return {*eigenvalue, *row_square};
    return measured_curvature(data);
}

}  // namespace quorate
