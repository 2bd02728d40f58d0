// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "data/data_set.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// The weighted sum, row by row, of sets of training rows; shorter sets count as zeros at their end. A
/// sparse sum has the columns of all its terms; labels are zeros. Local; reads just those rows.
/// O(entries of the terms).
RawRows coded_rows(const DataSet& data, const CodedBlock& block);

/// Likewise of columns: each is a row of the result, with an entry for each training row. Reads all rows,
/// some at a time.
RawRows coded_columns(const DataSet& data, const CodedBlock& block);

}  // namespace quorate
