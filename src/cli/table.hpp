// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quorate {

using Cells = std::vector<std::string>;

/// Returns lines of as many cells each as a table, whose columns are as wide as what they hold.
/// @param flush  a letter for each column: l, its cells are flush left, or r, right
/// @param cut    the column that is cut, by "~", to at least 8 characters where lines would be
///               wider than `width`, if that is given
std::string table(const std::vector<Cells>& lines, std::string_view flush, std::size_t cut = 0,
                  std::size_t width = std::string::npos);

}  // namespace quorate
