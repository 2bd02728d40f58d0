// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/coding.hpp"

namespace quorate {

std::int64_t rows_of(const Needs& needs, Worker worker)
{
    std::int64_t rows = 0;
    for (const int block : needs.shard[static_cast<std::size_t>(worker)])
        rows += needs.blocks[static_cast<std::size_t>(block)].count;
    if (!needs.coded.empty()) rows += needs.coded[static_cast<std::size_t>(worker)].rows;
    return rows;
}

}  // namespace quorate
