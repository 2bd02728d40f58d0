// SPDX-License-Identifier: BSD-2-Clause
#include "data/curvature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/host.hpp"
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
struct RowsOfData {
    RowsOfData(RawRows read, std::int64_t columns)
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

// The largest number of a row or of many, and the column that it stands in.
double largest_of(const RowView& rows, std::int64_t& column)
{
    double largest = 0;
    const auto see = [&](double value, std::int64_t at) {
        if (std::abs(value) <= largest) return;
        largest = std::abs(value);
        column = at;
    };
    for (std::int64_t i = 0; i < rows.rows; ++i)
        if (rows.dense)
            for (std::int64_t c = 0; c < rows.columns; ++c)
                see(rows.dense[i * rows.columns + c], c);
        else
            for (auto k = rows.start[i]; k < rows.start[i + 1]; ++k)
                see(rows.value ? rows.value[k] : 1, rows.column[k]);
    return largest;
}

// Returns |x|^2 of a row whose numbers are multiplied with `unit`.
double square_of(const RowView& rows, std::int64_t i, double unit)
{
    if (!rows.dense && !rows.value)
        return static_cast<double>(rows.start[i + 1] - rows.start[i]) * unit * unit;
    const auto* first = rows.dense ? rows.dense + i * rows.columns : rows.value + rows.start[i];
    const auto* end = rows.dense ? first + rows.columns : rows.value + rows.start[i + 1];
    double sum = 0;
    for (; first < end; ++first) sum += (*first * unit) * (*first * unit);
    return sum;
}

// Calls f(rows) for all training rows, about a million entries at a time.
template <class F>
void for_all_rows(const DataSet& data, F f)
{
    constexpr double entries = 1 << 20;
    const auto rows = data.rows(Split::train);
    const auto of_a_row =
        static_cast<double>(data.entries(Split::train)) / static_cast<double>(rows);
    const auto size = static_cast<std::int64_t>(entries / std::max(1.0, of_a_row)) + 1;
    for (std::int64_t first = 0; first < rows; first += size)
        f(RowsOfData(data.read(Split::train, first, std::min(size, rows - first)), data.columns()));
}

// The squares of the lengths of all training rows, whose numbers are multiplied with a power of two
// first, which is not 1 if a square would overflow or underflow.
struct Lengths {
    explicit Lengths(const DataSet& data)
    {
        double largest = 0;
        std::int64_t column = 0;
        const auto measure = [&](const RowsOfData& some) {
            largest = std::max(largest, largest_of(some.view, column));
            for (std::int64_t i = 0; i < some.view.rows; ++i)
                squares.push_back(square_of(some.view, i, unit));
        };
        for_all_rows(data, measure);
        const auto most = longest();
        if (largest == 0 || (most > 1e-200 && most < 1e200)) return;
        unit = std::ldexp(1, std::clamp(-std::ilogb(largest), -1000, 1000));
        squares.clear();
        for_all_rows(data, measure);
    }
    double longest() const { return std::ranges::max(squares); }
    double of(std::int64_t first, std::int64_t end) const
    {
        return std::accumulate(squares.begin() + first, squares.begin() + end, 0.0);
    }
    double unit = 1;
    std::vector<double> squares;
};

// Rows of which each counts as often as its weight says.
struct Block {
    RowsOfData rows;
    std::vector<double> weight;
};

// Takes all training rows, or so many that they have about `most` entries: the longest ones, and of
// the others 64 runs, spread evenly. A run stands for the rows around it: the squares of the sample
// add up to those of all rows.
std::vector<Block> sample(const DataSet& data, Lengths lengths, double most)
{
    constexpr std::int64_t runs = 64;
    const auto rows = data.rows(Split::train);
    const auto entries = static_cast<double>(data.entries(Split::train));
    std::vector<Block> all;
    const auto take = [&](std::int64_t first, std::int64_t end, double weight) {
        all.push_back({{data.read(Split::train, first, end - first), data.columns()}, {}});
        for (auto row = first; row < end; ++row)
            all.back().weight.push_back(lengths.squares[static_cast<std::size_t>(row)] > 0 ? weight
                                                                                           : 0);
    };
    if (entries <= most || rows < 2 * runs) {
        take(0, rows, 1);
        return all;
    }
    const auto share = most / entries * static_cast<double>(rows);  // rows that are taken
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto longest =
        order.begin() + static_cast<std::ptrdiff_t>(std::clamp(share / 4, 1.0, 1024.0));
    std::ranges::nth_element(order, longest, std::greater(), [&](std::int64_t row) {
        return lengths.squares[static_cast<std::size_t>(row)];
    });
    std::sort(order.begin(), longest);
    for (auto row = order.begin(); row != longest; ++row) {
        take(*row, *row + 1, 1);
        lengths.squares[static_cast<std::size_t>(*row)] = 0;  // no run takes it again
    }
    for (std::int64_t run = 0; run < runs; ++run) {
        const auto first = rows * run / runs, next = rows * (run + 1) / runs;
        const auto end = std::min(next, first + 1 + static_cast<std::int64_t>(share / runs));
        if (const auto seen = lengths.of(first, end); seen > 0)
            take(first, end, lengths.of(first, next) / seen);
    }
    return all;
}

}  // namespace

Curvature measured_curvature(const DataSet& data, double most)
{
    constexpr int iterations = 100;
    constexpr double tolerance = 1e-6;
    const Lengths lengths(data);
    const auto blocks = sample(data, lengths, most);
    const auto rows = static_cast<double>(data.rows(Split::train));
    need_memory(2.0 * sizeof(double) * static_cast<double>(data.columns()),
                fmt::format("to measure {} columns", data.columns()));
    std::vector<double> v(static_cast<std::size_t>(data.columns())), next(v.size()), scores;
    Stream random(0, Purpose::probe);
    for (auto& element : v) element = random.normal();
    double eigenvalue = 0;  // of numbers that are multiplied with the unit
    for (int i = 0; i < iterations; ++i) {
        const double norm = std::sqrt(square(v));
        if (norm == 0) break;  // all rows are zero
        for (auto& element : v) element /= norm;
        std::ranges::fill(next, 0.0);
        double quotient = 0;
        for (const auto& [some, weight] : blocks) {
            scores.resize(weight.size());
            linear::product(some.view, v.data(), 1, scores.data());
            for (std::size_t row = 0; row < scores.size(); ++row) {
                const auto score = scores[row] * lengths.unit;
                scores[row] = score * weight[row];
                quotient += score * scores[row];
            }
            linear::add_transpose_product(some.view, scores.data(), 1, next.data());
        }
        for (auto& element : next) element *= lengths.unit;
        quotient /= rows;
        const double before = std::exchange(eigenvalue, quotient);
        if (std::abs(quotient - before) <= tolerance * quotient) break;
        std::swap(v, next);
    }
    const auto in_full = [&](double square) { return square / lengths.unit / lengths.unit; };
    // One row alone has the eigenvalue |x|^2 / rows, and others only add to it.
    return {in_full(std::max(eigenvalue, lengths.longest() / rows)), in_full(lengths.longest())};
}

LargestNumber largest_number(const DataSet& data)
{
    LargestNumber all{};
    for_all_rows(data, [&](const RowsOfData& some) {
        std::int64_t column = 0;
        if (const auto largest = largest_of(some.view, column); largest > all.size)
            all = {largest, column};
    });
    return all;
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
