// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/store.hpp"

#include "fleet/coded_rows.hpp"

namespace quorate {

namespace {

Shard shard_of(const DataSet& data, const Needs& needs, Worker worker,
               std::vector<std::size_t>& place)
{
    std::vector<RawRows> blocks;
    for (const int block : needs.shard[static_cast<std::size_t>(worker)]) {
        const auto& rows = needs.blocks[static_cast<std::size_t>(block)];
        place[static_cast<std::size_t>(block)] = blocks.size();
        blocks.push_back(data.read(Split::train, rows.first, rows.count));
    }
    if (!needs.coded.empty())
        blocks.push_back(coded_rows(data, needs.coded[static_cast<std::size_t>(worker)]));
    return {std::move(blocks), data.columns()};
}

// A product is half of what a gradient is, on rows that may have more entries than those of the data.
double load_of(const DataSet& data, const Needs& needs, const Shard& shard)
{
    constexpr double half = 0.5;
    if (needs.coded.empty() || data.dense()) return half;
    const auto rows = shard.block(shard.size() - 1).view();
    const auto entries = static_cast<double>(rows.start[rows.rows] - rows.start[0]);
    return half * entries / static_cast<double>(rows.rows) / data.shape().entries_per_row;
}

}  // namespace

Store::Store(const DataSet& data, const Needs& needs, Worker worker, const Model& model)
    : place_(needs.blocks.size()), shard_(shard_of(data, needs, worker, place_)),
      support_(parameters_of(shard_, model)), coded_load_(load_of(data, needs, shard_))
{
}

}  // namespace quorate
