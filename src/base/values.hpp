// SPDX-License-Identifier: BSD-2-Clause
// Several values in one text, as experiments and grids write them.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace quorate {

/// The values of a range: 1..5 is five whole numbers, and 1e-5..1e-1x5 five numbers at equal
/// ratios, the ends as they are written, those between with six digits. Nothing: the text is no
/// range.
/// @param where  what stands before the text in messages: "x.ini:3: seed is "
/// @throws BadInput if the range holds nothing or too much, or does not say how many numbers
std::optional<std::vector<std::string>> values_of_range(const std::string& text,
                                                        const std::string& where);

/// What to write in an experiment for several values: "1..3" for 1-3, "a, b" for a,b. Empty: the
/// text does not look like several. @param known  what each must begin with, before a colon; empty:
/// each must be a number
std::string several_values(const std::string& text, const std::vector<std::string>& known = {});

/// The end of a message about an option that takes one value: how an experiment gives it several,
/// if its text looks like several; else `wrong`. @param known  as above
std::string unless_several(const std::string& option, const std::string& text,
                           const std::string& wrong, const std::vector<std::string>& known = {});

}  // namespace quorate
