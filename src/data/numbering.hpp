// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace quorate {

/// The columns of a data set that is there, for rows whose columns have another order: by their names.
class NumberingLike {
public:
    /// @param mine   names of the columns of the rows  @param theirs  of the data set
    NumberingLike(const std::vector<std::string>& mine, const std::vector<std::string>& theirs)
    {
        std::unordered_map<std::string, std::int64_t> number;
        for (std::size_t i = 0; i < theirs.size(); ++i)
            number.emplace(theirs[i], static_cast<std::int64_t>(i));
        for (const auto& name : mine) {
            const auto at = number.find(name);
            number_.push_back(at == number.end() ? -1 : at->second);
            unknown_ += number_.back() < 0;
        }
    }
    /// -1: the data set does not have it.
    std::int64_t operator()(std::int64_t column) const
    {
        return number_[static_cast<std::size_t>(column)];
    }
    /// Columns that the data set does not have.
    std::int64_t unknown() const { return unknown_; }

private:
    std::vector<std::int64_t> number_;
    std::int64_t unknown_ = 0;
};

}  // namespace quorate
