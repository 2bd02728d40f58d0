// SPDX-License-Identifier: BSD-2-Clause
#include "compute/coded_rows.hpp"

#include <algorithm>
#include <map>

namespace quorate {

namespace {

RawRows dense_sum(const DataSet& data, const CodedBlock& block)
{
    RawRows sum;
    sum.dense.assign(static_cast<std::size_t>(block.rows * data.columns()), 0.0);
    for (const auto& [set, weight] : block.terms) {
        const auto raw = data.read(Split::train, set.first, set.count);
        for (std::size_t i = 0; i < raw.dense.size(); ++i) sum.dense[i] += weight * raw.dense[i];
    }
    return sum;
}

// Appends a row. @param entries  pairs of column and value, ascending by column
void add_row(RawRows& rows, const auto& entries)
{
    for (const auto& [column, value] : entries) {
        rows.column.push_back(column);
        rows.value.push_back(value);
    }
    rows.start.push_back(std::ssize(rows.column));
}

RawRows sparse_sum(const DataSet& data, const CodedBlock& block)
{
    std::vector<RawRows> terms;
    for (const auto& term : block.terms)
        terms.push_back(data.read(Split::train, term.rows.first, term.rows.count));
    RawRows sum;
    sum.start.push_back(0);
    for (std::int64_t row = 0; row < block.rows; ++row) {
        std::map<Index, double> entries;  // ascending by column
        for (std::size_t t = 0; t < terms.size(); ++t) {
            if (row >= block.terms[t].rows.count) continue;
            const auto r = static_cast<std::size_t>(row);
            for (auto k = terms[t].start[r]; k < terms[t].start[r + 1]; ++k) {
                const auto at = static_cast<std::size_t>(k);
                const double value = terms[t].value.empty() ? 1 : terms[t].value[at];
                entries[terms[t].column[at]] += block.terms[t].weight * value;
            }
        }
        add_row(sum, entries);
    }
    return sum;
}

// Calls f(row, column, value) for every entry of the training rows, row by row.
template <class F>
void for_entries(const DataSet& data, F f)
{
    constexpr std::int64_t at_once = 4096;
    const auto rows = data.rows(Split::train), columns = data.columns();
    for (std::int64_t first = 0; first < rows; first += at_once) {
        const auto count = std::min(at_once, rows - first);
        const auto raw = data.read(Split::train, first, count);
        for (std::int64_t row = 0; row < count; ++row) {
            if (data.dense()) {
                for (std::int64_t column = 0; column < columns; ++column)
                    f(first + row, column,
                      raw.dense[static_cast<std::size_t>(row * columns + column)]);
                continue;
            }
            const auto r = static_cast<std::size_t>(row);
            for (auto k = raw.start[r]; k < raw.start[r + 1]; ++k) {
                const auto at = static_cast<std::size_t>(k);
                f(first + row, raw.column[at], raw.value.empty() ? 1 : raw.value[at]);
            }
        }
    }
}

}  // namespace

RawRows coded_columns(const DataSet& data, const CodedBlock& block)
{
    const auto rows = data.rows(Split::train);
    RawRows sum;
    sum.label.assign(static_cast<std::size_t>(block.rows), 0.0);
    if (data.dense()) {
        sum.dense.assign(static_cast<std::size_t>(block.rows * rows), 0.0);
        for_entries(data, [&](auto row, auto column, double value) {
            for (const auto& [set, weight] : block.terms)
                if (set.first <= column && column < set.first + set.count)
                    sum.dense[static_cast<std::size_t>((column - set.first) * rows + row)] +=
                        weight * value;
        });
        return sum;
    }
    std::vector<std::vector<std::pair<Index, double>>> entries(
        static_cast<std::size_t>(block.rows));  // of each coded column, ascending by training row
    for_entries(data, [&](auto row, auto column, double value) {
        for (const auto& [set, weight] : block.terms) {
            if (column < set.first || column >= set.first + set.count) continue;
            auto& some = entries[static_cast<std::size_t>(column - set.first)];
            if (some.empty() || some.back().first != static_cast<Index>(row))
                some.emplace_back(static_cast<Index>(row), 0.0);
            some.back().second += weight * value;
        }
    });
    sum.start.push_back(0);
    for (const auto& some : entries) add_row(sum, some);
    return sum;
}

RawRows coded_rows(const DataSet& data, const CodedBlock& block)
{
    const auto& [rows, weight] = block.terms.at(0);
    if (block.terms.size() == 1 && weight == 1 && rows.count == block.rows)
        return data.read(Split::train, rows.first, rows.count);
    auto sum = data.dense() ? dense_sum(data, block) : sparse_sum(data, block);
    sum.label.assign(static_cast<std::size_t>(block.rows), 0.0);
    return sum;
}

}  // namespace quorate
