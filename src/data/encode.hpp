// SPDX-License-Identifier: BSD-2-Clause
// From a table of words to features: numbers as they are, categories as one column for each distinct
// value, pairs of categorical columns as one column for each distinct pair of values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "data/csv.hpp"
#include "data/examples.hpp"

namespace quorate {

struct Encoding {
    std::string label;  // name of the label column
    bool all_categorical = false;
    std::vector<std::string> categorical;  // names; the other columns are numbers
    bool pairs = false;                    // interactions of degree 2 of the categorical columns
    std::vector<std::pair<std::string, std::string>> excluded_pairs;
    bool intercept = false;  // a last column of ones
};

/// Columns are numbered by feature (columns in their order, then pairs in theirs, then the
/// intercept), and inside a feature by the first row in which a value appears.
/// O(rows x features) hash look-ups.
/// @param name  of the file, for messages
/// @throws BadInput for names that are not columns (with the nearest) and cells that are not numbers
Examples encode(const CsvTable& table, const Encoding& encoding, const std::string& name);

}  // namespace quorate
