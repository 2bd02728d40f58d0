// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace quorate {

/// Gives columns the numbers that columns of the same name have in an existing data set.
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
            if (number_.back() < 0) unknown_.push_back(name);
        }
    }
    /// @return the number in the data set of a column of the rows; -1: the data set does not have
    ///     it
    std::int64_t operator()(std::int64_t column) const
    {
        return number_[static_cast<std::size_t>(column)];
    }
    /// The columns that the data set does not have.
    const std::vector<std::string>& unknown() const { return unknown_; }

private:
    std::vector<std::int64_t> number_;
    std::vector<std::string> unknown_;
};

}  // namespace quorate
