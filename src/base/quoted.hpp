// SPDX-License-Identifier: BSD-2-Clause
// Lists of foreign names in options. Names may hold what separates them: then they stand in quotes,
// as in CSV.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quorate {

/// The pieces of `text` between separators that stand outside quotes, with their quotes, without
/// blanks at either end. A quote opens where a name begins: at the start, or behind a comma, colon,
/// star or two dots. Inside, it is doubled. One that is not closed is a letter.
std::vector<std::string> split_quoted(std::string_view text, char separator);

/// All ways to cut `text` in two at a separator outside quotes, as above.
std::vector<std::pair<std::string, std::string>> cuts(std::string_view text,
                                                      std::string_view separator);

/// The name that a piece stands for: what is in its quotes, if it has some.
std::string unquoted(std::string_view piece);

/// The name in quotes, as CSV has it.
std::string double_quoted(const std::string& name);

/// The name as an option can hold it: in quotes if it needs them.
std::string quoted_if_needed(const std::string& name);

}  // namespace quorate
