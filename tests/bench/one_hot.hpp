// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "base/random.hpp"
#include "model/row_view.hpp"

namespace quorate::bench {

constexpr Index rows = 26215, columns = 241915, entries_per_row = 44;

/// One-hot data of the Amazon data's size: half of a row's entries in popular columns, half in rare
/// ones.
struct OneHot {
    std::vector<Index> start = {0}, column;
    std::vector<double> value, label;
    Index width;

    explicit OneHot(Index height = rows, Index of_columns = columns) : width(of_columns)
    {
        Stream stream(1, Purpose::generated_data);
        for (Index i = 0; i < height; ++i) {
            std::vector<Index> row;
            while (row.size() < entries_per_row) {
                const Index range = row.size() % 2 ? width : std::min<Index>(width, 2000);
                const auto j = static_cast<Index>(stream.uniform() * range);
                if (std::find(row.begin(), row.end(), j) == row.end()) row.push_back(j);
            }
            std::sort(row.begin(), row.end());
            column.insert(column.end(), row.begin(), row.end());
            start.push_back(static_cast<Index>(column.size()));
            label.push_back(stream.uniform() < 0.9 ? 1 : -1);
        }
        value.assign(column.size(), 1.0);
    }

    RowView view(bool ones) const
    {
        RowView view;
        view.rows = static_cast<std::int64_t>(label.size());
        view.columns = width;
        view.start = start.data();
        view.column = column.data();
        view.value = ones ? nullptr : value.data();
        view.label = label.data();
        return view;
    }
};

}  // namespace quorate::bench
