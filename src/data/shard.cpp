// SPDX-License-Identifier: BSD-2-Clause
#include "data/shard.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace quorate {

namespace {

// The columns in use, numbered.
ColumnSet columns_of(const std::vector<RawRows>& blocks, std::int64_t columns)
{
    ColumnSet used(columns);
    for (const auto& block : blocks)
        for (const auto column : block.column) used.add(column);
    used.number();
    return used;
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
        const auto used = columns_of(rows, support_.whole());
        for (auto& block : rows)
            for (auto& column : block.column) column = used.number_of(column);
        support_ = Support::of(support_.whole(), used.list());
    }
    return static_cast<std::int64_t>(support_.size());
}

std::int64_t Shard::rows() const
{
    return std::accumulate(blocks_.begin(), blocks_.end(), std::int64_t{0},
                           [](auto sum, const auto& block) { return sum + block.view().rows; });
}

}  // namespace quorate
