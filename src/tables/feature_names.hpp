// SPDX-License-Identifier: BSD-2-Clause
// What the columns of a data set are called: that of a number like the column of the file, that of
// a category "city=Bonn", that of a pair of them "city*device=Bonn*phone". No two columns have the
// same name, whatever those of the file hold: what could be mistaken stands in quotes, as in CSV.
#pragma once

#include <optional>
#include <string>

namespace quorate {

/// The column of ones. A column of the file must not be called so beside it.
inline const std::string intercept_name = "intercept";

/// The name of a column of numbers: in quotes if it holds = * or ".
std::string feature_name(const std::string& column);
/// Of a level of a categorical column.
std::string feature_name(const std::string& column, const std::string& level);
/// Of levels of two categorical columns.
std::string feature_name(const std::string& a, const std::string& b, const std::string& level_of_a,
                         const std::string& level_of_b);

/// A name taken apart. The parts are as they stand in it, in quotes where they need them.
struct FeatureParts {
    std::string column, second;        // second: of a pair; else empty
    std::optional<std::string> level;  // what stands behind the =; of a pair both, with a * between
};

/// Returns the parts of a name that feature_name() made. Of another name they mean nothing, so
/// compare them with the names of the columns that there are.
FeatureParts parts_of_feature(const std::string& name);

}  // namespace quorate
