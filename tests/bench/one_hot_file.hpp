// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "data/data_set_writer.hpp"
#include "one_hot.hpp"

namespace quorate::bench {

/// Writes one-hot data as a data set, its columns numbered as import would.
inline void write(const OneHot& data, const std::string& path)
{
    DataSetWriter writer(path, "one-hot", {.columns = data.width}, true, false);
    writer.begin(Split::train);
    std::vector<std::int64_t> number(static_cast<std::size_t>(data.width), -1);
    std::int64_t next = 0;
    for (std::size_t row = 0; row < data.label.size(); ++row) {
        std::vector<std::pair<std::int64_t, double>> entries;
        for (auto k = data.start[row]; k < data.start[row + 1]; ++k) {
            const auto column = data.column[static_cast<std::size_t>(k)];
            auto& its_number = number[static_cast<std::size_t>(column)];
            if (its_number < 0) its_number = next++;
            entries.emplace_back(its_number, 1.0);
        }
        std::ranges::sort(entries);
        writer.add(entries, data.label[row]);
    }
    writer.begin(Split::test);
    writer.finish({}, {});
}

}  // namespace quorate::bench
