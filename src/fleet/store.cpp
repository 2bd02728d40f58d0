// SPDX-License-Identifier: BSD-2-Clause
#include "fleet/store.hpp"

namespace quorate {

namespace {

Shard shard_of(const DataSet& data, const Needs& needs, Worker worker,
               std::vector<std::size_t>& place)
{
    std::vector<RowSet> sets;
    for (const int block : needs.shard[static_cast<std::size_t>(worker)]) {
        const auto& rows = needs.blocks[static_cast<std::size_t>(block)];
        place[static_cast<std::size_t>(block)] = sets.size();
        sets.push_back({Split::train, rows.first, rows.count});
    }
    return {data, sets};
}

}  // namespace

Store::Store(const DataSet& data, const Needs& needs, Worker worker, const Model& model)
    : place_(needs.blocks.size()), shard_(shard_of(data, needs, worker, place_)),
      support_(parameters_of(shard_, model))
{
}

}  // namespace quorate
