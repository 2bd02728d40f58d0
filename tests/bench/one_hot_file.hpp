// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "data/data_set_writer.hpp"
#include "one_hot.hpp"
#include "tables/first_use.hpp"

namespace quorate::bench {

/// Writes one-hot data as a data set, its columns numbered as import would.
inline void write(const OneHot& data, const std::string& path)
{
    DataSetWriter writer(path, "one-hot", {.columns = data.width}, true, false);
    writer.begin(Split::train);
    FirstUse number(data.width);
    for (std::size_t row = 0; row < data.label.size(); ++row) {
        std::vector<std::pair<std::int64_t, double>> entries;
        for (auto k = data.start[row]; k < data.start[row + 1]; ++k)
            entries.emplace_back(number(data.column[static_cast<std::size_t>(k)]), 1.0);
        std::ranges::sort(entries);
        writer.add(entries, data.label[row]);
    }
    writer.begin(Split::test);
    writer.finish({}, {});
}

}  // namespace quorate::bench
