// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quorate {

/// Labelled rows in memory, as readers make them: sparse (CSR) with columns ascending in a row.
struct Examples {
    std::int64_t columns = 0;
    std::vector<std::int64_t> start = {0};  // rows + 1
    std::vector<std::int64_t> column;
    std::vector<double> value;
    std::vector<double> label;
    std::vector<std::string> feature;  // names of the columns; may be empty

    std::int64_t rows() const { return static_cast<std::int64_t>(start.size()) - 1; }
};

/// Maps labels by "from:to,from:to"; an empty map sends the smaller of two values to -1, the other to 1.
/// @throws BadInput if the labels are not two classes, or one has no place in the map
void map_labels(std::vector<double>& labels, const std::string& map);

/// Numbers the columns anew, in the order in which these rows, and then all others, first use them.
/// Only for named columns. Rows that stand together then use columns that stand together, so that
/// packing a shard's columns reads memory in runs: the columns that one worker alone uses are one run.
void number_by_first_use(Examples& examples, std::span<const std::int64_t> rows);

}  // namespace quorate
