// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// How the numbers of a table of text are written: what begins decimals, and what groups thousands.
/// A mark that has neither meaning makes no number.
class NumberText {
public:
    /// @throws BadInput if one mark is to be both
    explicit NumberText(const Settings& settings);
    static std::vector<Option> options();

    /// The whole of a cell as a finite number; nothing if it is anything else.
    std::optional<double> operator()(std::string_view cell) const;
    /// What to do about a cell that is a number if its marks mean something else; empty if it is
    /// none.
    std::string remedy(std::string_view cell) const;

private:
    NumberText(char decimal, char group) : decimal_(decimal), group_(group) {}

    char decimal_;
    char group_;  // a blank, '.', ',' or an apostrophe; zero: nothing groups thousands
};

/// True or False, in upper or lower case, as 1 or 0.
std::optional<double> to_truth(std::string_view cell);

}  // namespace quorate
