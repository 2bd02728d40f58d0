// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quorate {

/// Numbers columns anew, in the order in which rows use them. Neighbouring rows then use
/// neighbouring columns. So packing a point to a shard's columns reads memory in runs, and the
/// columns that only one worker uses stand together.
class FirstUse {
public:
    /// @param columns  how many there are
    explicit FirstUse(std::int64_t columns) : number_(static_cast<std::size_t>(columns), -1) {}

    /// The new number of a column; the next free one if it is used for the first time. O(1).
    std::int64_t operator()(std::int64_t column)
    {
        auto& number = number_[static_cast<std::size_t>(column)];
        if (number < 0) number = next_++;
        return number;
    }
    /// Returns the names of the columns in their new order. Columns that no row uses come last. To
    /// be called after all rows.
    /// @param old  names in the old order
    std::vector<std::string> names(const std::vector<std::string>& old)
    {
        std::vector<std::string> names(old.size());
        for (std::size_t column = 0; column < old.size(); ++column)
            names[static_cast<std::size_t>((*this)(static_cast<std::int64_t>(column)))] =
                old[column];
        return names;
    }

private:
    std::vector<std::int64_t> number_;
    std::int64_t next_ = 0;
};

}  // namespace quorate
