// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <vector>

#include "model/row_view.hpp"

namespace quorate {

/// Copies some rows of others, so that they stand together. Uses its memory again. Local.
class RowSample {
public:
    /// Copies rows. O(their entries). @param rows  numbers of the rows in `all`
    /// @return a view of the copies, valid until the next call
    RowView take(const RowView& all, std::span<const std::int64_t> rows)
    {
        RowView view = all;
        view.rows = static_cast<std::int64_t>(rows.size());
        label_.clear();
        dense_.clear();
        start_.assign(1, 0);
        column_.clear();
        value_.clear();
        for (const auto row : rows) {
            label_.push_back(all.label[row]);
            if (all.dense) {
                const double* first = all.dense + row * all.columns;
                dense_.insert(dense_.end(), first, first + all.columns);
                continue;
            }
            const auto first = all.start[row], last = all.start[row + 1];
            column_.insert(column_.end(), all.column + first, all.column + last);
            if (all.value) value_.insert(value_.end(), all.value + first, all.value + last);
            start_.push_back(static_cast<Index>(column_.size()));
        }
        view.label = label_.data();
        if (all.dense) {
            view.dense = dense_.data();
        } else {
            view.start = start_.data();
            view.column = column_.data();
            view.value = all.value ? value_.data() : nullptr;
        }
        return view;
    }

private:
    std::vector<Index> start_, column_;
    std::vector<double> value_, dense_, label_;
};

}  // namespace quorate
