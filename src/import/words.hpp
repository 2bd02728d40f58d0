// SPDX-License-Identifier: BSD-2-Clause
// Warnings about the words of an import's categories.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tables/raw_table.hpp"

namespace quorate {

/// Warns of words that tell rows apart rather than kinds of rows.
void warn_of_identifiers(const RawTable& table);

/// Warns in one line of words that rows have and those that a model is trained on have not. Reads
/// these rows, if there are such words. O(rows).
/// @param first     the first of the rows; all that follow are of them
/// @param is_known  whether the others have a level of a column
/// @param least     share of the rows with such words from which on a column is named
/// @param what      what is said of them: "x.csv has words that no training row has"
void warn_of_new_words(RawTable& table, std::int64_t first,
                       const std::function<bool(std::size_t column, std::size_t level)>& is_known,
                       double least, const std::string& what);

}  // namespace quorate
