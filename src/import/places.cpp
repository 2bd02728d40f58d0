// SPDX-License-Identifier: BSD-2-Clause
#include "import/places.hpp"

#include <unordered_map>

namespace quorate {

Places::Places(const std::vector<std::string>& mine, const std::vector<std::string>& theirs,
               bool dense)
    : mine_(mine), theirs_(theirs), by_use_(theirs_.empty() && !dense)
{
    if (by_use_) number_.assign(mine_.size(), -1);
    if (theirs_.empty()) return;
    std::unordered_map<std::string, std::int64_t> number;
    for (const auto& name : theirs_) number.emplace(name, std::ssize(number));
    for (const auto& name : mine_) {
        const auto at = number.find(name);
        number_.push_back(at == number.end() ? -1 : at->second);
    }
}

std::int64_t Places::operator()(std::int64_t column)
{
    if (number_.empty()) return column;
    auto& number = number_[static_cast<std::size_t>(column)];
    if (by_use_ && number < 0) number = next_++;
    return number;
}

std::vector<std::string> Places::names()
{
    if (!theirs_.empty()) return theirs_;
    std::vector<std::string> names(mine_.size());
    for (std::size_t column = 0; column < mine_.size(); ++column)
        names[static_cast<std::size_t>((*this)(static_cast<std::int64_t>(column)))] = mine_[column];
    return names;
}

std::vector<std::string> Places::unknown() const
{
    std::vector<std::string> names;
    if (theirs_.empty()) return names;
    for (std::size_t column = 0; column < mine_.size(); ++column)
        if (number_[column] < 0) names.push_back(mine_[column]);
    return names;
}

}  // namespace quorate
