// SPDX-License-Identifier: BSD-2-Clause
#include "compute/store.hpp"

#include <algorithm>

#include "compute/coded_rows.hpp"

namespace quorate {

namespace {

Shard shard_of(const DataSet& data, const Needs& needs, Worker worker, const ShardBlock* training,
               BlockPlaces& places)
{
    std::vector<RowSet> sets;
    std::vector<ShardBlock> shared;
    for (const int block : needs.shard[static_cast<std::size_t>(worker)]) {
        const auto& rows = needs.blocks[static_cast<std::size_t>(block)];
        places[block] = sets.size() + shared.size();
        if (training)
            shared.emplace_back(*training, rows.first, rows.count);
        else
            sets.push_back({Split::train, rows.first, rows.count});
    }
    if (training) return {std::move(shared), data.columns()};
    std::vector<RawRows> coded;
    if (!needs.coded.empty())
        coded.push_back(coded_rows(data, needs.coded[static_cast<std::size_t>(worker)]));
    return {data, sets, std::move(coded)};
}

std::optional<ShardBlock> columns_of(const DataSet& data, const Needs& needs, Worker worker)
{
    if (needs.coded_columns.empty()) return std::nullopt;
    return ShardBlock(coded_columns(data, needs.coded_columns[static_cast<std::size_t>(worker)]),
                      data.rows(Split::train));
}

// What a row of a product costs, in rows of gradients. A product costs half of a gradient on the
// same row, but coded rows may have more entries than those of the data set.
double load_of(const DataSet& data, const RowView& rows)
{
    constexpr double half = 0.5;
    const double entries = rows.start
                               ? static_cast<double>(rows.start[rows.rows] - rows.start[0]) /
                                     static_cast<double>(std::max<std::int64_t>(1, rows.rows))
                               : static_cast<double>(rows.columns);
    return half * entries / data.shape().entries_per_row;
}

}  // namespace

Store::Store(const DataSet& data, const Needs& needs, Worker worker, const Model& model,
             const ShardBlock* training)
    : shard_(shard_of(data, needs, worker, training, places_)),
      support_(parameters_of(shard_, model)), columns_(columns_of(data, needs, worker)),
      coded_load_(needs.coded.empty() ? 0 : load_of(data, view().coded())),
      column_load_(columns_ ? load_of(data, columns_->view()) : 0)
{
}

}  // namespace quorate
