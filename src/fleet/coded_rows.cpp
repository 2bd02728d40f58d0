// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/coded_rows.hpp"

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
        for (const auto& [column, value] : entries) {
            sum.column.push_back(column);
            sum.value.push_back(value);
        }
        sum.start.push_back(static_cast<std::int64_t>(sum.column.size()));
    }
    return sum;
}

}  // namespace

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
