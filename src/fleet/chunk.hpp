// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "data/data_set.hpp"

namespace quorate {

/// Rows that a worker computes between two looks at its mailbox: about 0.2 ms of work. It depends on
/// the data set alone, never on measured time, so that a run's bits do not depend on speed; a
/// multiple of the tile in which models work.
inline std::int64_t rows_in_chunk(const DataSet& data)
{
    constexpr std::int64_t entries_in_chunk = 1 << 16, tile = 256;
    const auto entries =
        std::max<std::int64_t>(1, data.entries(Split::train) / data.rows(Split::train));
    return std::max<std::int64_t>(1, entries_in_chunk / entries / tile) * tile;
}

}  // namespace quorate
