// SPDX-License-Identifier: BSD-2-Clause
#include "data/shard.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace quorate {

namespace {

// Numbers the columns in use from 0, in their order.
// @param used  receives the columns in use
// @return for each column of the data set its number; -1: it is not in use
std::vector<Index> local_numbers(const std::vector<RawRows>& blocks, std::int64_t columns,
                                 std::vector<Index>& used)
{
    std::vector<Index> number(static_cast<std::size_t>(columns), -1);
    for (const auto& block : blocks)
        for (const auto column : block.column) number[static_cast<std::size_t>(column)] = 0;
    for (std::size_t column = 0; column < number.size(); ++column)
        if (number[column] == 0) {
            number[column] = static_cast<Index>(used.size());
            used.push_back(static_cast<Index>(column));
        }
    return number;
}

}  // namespace

Shard::Shard(const DataSet& data, std::span<const RowSet> sets, std::vector<RawRows> others)
    : support_(Support::all(data.columns()))
{
    std::vector<RawRows> rows;
    for (const auto& set : sets)
        rows.push_back(data.read_structure(set.split, set.first, set.count));
    std::ranges::move(others, std::back_inserter(rows));
    const auto columns = number_columns(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i < sets.size())
            blocks_.emplace_back(
                std::make_shared<const RowMatrix>(data, sets[i], rows[i], columns));
        else
            blocks_.emplace_back(rows[i], columns);
        rows[i] = {};  // the memory is needed for the next ones
    }
}

Shard::Shard(std::vector<RawRows> raw, std::int64_t columns) : support_(Support::all(columns))
{
    const auto numbered = number_columns(raw);
    for (auto& block : raw) {
        blocks_.emplace_back(block, numbered);
        block = {};
    }
}

Shard::Shard(std::vector<ShardBlock> blocks, std::int64_t columns)
    : support_(Support::all(columns)), blocks_(std::move(blocks))
{
}

// Counts the columns of sparse rows by those in use, which become the support.
// @return how many there are now
std::int64_t Shard::number_columns(std::vector<RawRows>& rows)
{
    const bool sparse =
        std::ranges::any_of(rows, [](const auto& one) { return !one.start.empty(); });
    if (sparse) {
        std::vector<Index> used;
        const auto number = local_numbers(rows, support_.whole(), used);
        for (auto& block : rows)
            for (auto& column : block.column) column = number[static_cast<std::size_t>(column)];
        support_ = Support::of(support_.whole(), std::move(used));
    }
    return static_cast<std::int64_t>(support_.size());
}

std::int64_t Shard::rows() const
{
    return std::accumulate(blocks_.begin(), blocks_.end(), std::int64_t{0},
                           [](auto sum, const auto& block) { return sum + block.view().rows; });
}

}  // namespace quorate
