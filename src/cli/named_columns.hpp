// SPDX-License-Identifier: BSD-2-Clause
// The columns of a data set as whoever made its file knows them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data/data_set.hpp"

namespace quorate {

/// A column of the file, or a pair of them, and what became of it in the data set.
struct NamedColumn {
    enum class Kind { number, category, pair, ones };
    std::string name;
    Kind kind;
    std::vector<std::string> levels =
        {};                        // of a category or a pair: each is a column of the data set
    double factor = 1, shift = 0;  // of a number: the data set has value * factor + shift
};

/// Returns the columns in the order of the data set; none if they have no names. Reads no rows.
/// Local; O(columns).
/// @throws BadInput if the file is damaged
std::vector<NamedColumn> named_columns(const DataSet& data);

/// Returns the column of ones that an import added; nothing if there is none. Local; O(columns).
std::optional<std::int64_t> intercept_of(const DataSet& data);

/// Returns objects: name, kind, of a number that was scaled factor and shift, else how many levels
/// and their names. @param most  names of a column's levels
nlohmann::ordered_json as_json(const std::vector<NamedColumn>& columns, std::size_t most);

/// Returns a line for each column, with those of its levels that fit 80 characters.
/// @param all  whether to list every column and level
std::string lines_of(const std::vector<NamedColumn>& columns, bool all);

}  // namespace quorate
