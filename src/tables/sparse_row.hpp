// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace quorate {

/// The entries of a row in the order of their columns. The same object serves for many rows.
class SparseRow {
public:
    /// Takes entries in any order. O(entries) if they ascend.
    /// @return a column that stands twice; nothing if none does
    std::optional<std::int64_t> set(std::span<const std::int64_t> columns,
                                    std::span<const double> values)
    {
        entries_.clear();
        for (std::size_t i = 0; i < columns.size(); ++i)
            entries_.emplace_back(columns[i], values[i]);
        const auto column = [](const auto& entry) { return entry.first; };
        if (!std::ranges::is_sorted(entries_, {}, column)) std::ranges::sort(entries_, {}, column);
        columns_.clear();
        values_.clear();
        for (const auto& [number, value] : entries_) {
            columns_.push_back(number);
            values_.push_back(value);
        }
        const auto twice = std::ranges::adjacent_find(columns_);
        return twice == columns_.end() ? std::nullopt : std::optional(*twice);
    }
    std::span<const std::int64_t> columns() const { return columns_; }
    std::span<const double> values() const { return values_; }

private:
    std::vector<std::pair<std::int64_t, double>> entries_;
    std::vector<std::int64_t> columns_;
    std::vector<double> values_;
};

}  // namespace quorate
