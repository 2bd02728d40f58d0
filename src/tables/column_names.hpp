// SPDX-License-Identifier: BSD-2-Clause
// What the columns of a table are called, and which of them an option means.
//
// A name belongs to one column, in every file alike: of columns that a header calls the same, the
// first of two is "x (1 of 2)", and of those without a name "unnamed (1 of 2)". So another file has
// the column of that name only if it has as many of them, and is never searched for the first
// match.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// Returns names that are unique, which a function of the header alone gives. A name that stands
/// once stays as it is.
/// @param file  for messages  @throws BadInput if a name is already made so
std::vector<std::string> unique_names(const std::vector<std::string>& header,
                                      const std::string& file);

/// What a file calls several columns alike, with what unique_names() makes of it; a line to warn
/// with, empty if there is none. @param names  by unique_names() of the header
std::string words_of_made_names(const std::vector<std::string>& header,
                                const std::vector<std::string>& names, const std::string& file);

/// The columns that are called so: one, none, or all that the file called so.
std::vector<std::size_t> columns_called(const std::vector<std::string>& names,
                                        const std::string& name);

/// The one column that an option names. @throws BadInput if there is none, or several
std::size_t one_column(const std::vector<std::string>& names, const std::string& name,
                       const std::string& option, const std::string& file);

/// The columns that an option lists: names and ranges A..B, separated by commas. A name that
/// several columns share means all of them. Names that hold commas or two dots stand in quotes as
/// in CSV. Without them, what is the name of a column means that column and no list or range, and
/// a range is cut where it first has a name at either side.
/// @throws BadInput if a name is none of a column
std::set<std::size_t> columns_listed(const std::vector<std::string>& names,
                                     const Settings& settings, const std::string& option,
                                     const std::string& file);

/// The pairs of columns that an option lists: A*B, separated by commas; the smaller column first.
/// Likewise.
std::set<std::pair<std::size_t, std::size_t>> pairs_listed(const std::vector<std::string>& names,
                                                           const Settings& settings,
                                                           const std::string& option);

}  // namespace quorate
