// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "data/data_set.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// Reads the coded block of a machine: the weighted sum, row by row, of sets of training rows.
/// Shorter sets count as zeros at their end. A row of a sparse sum has an entry wherever one of its
/// terms has one. Labels are zeros, unless the sum is one plain set of rows. Local; reads those
/// rows only. O(entries of the terms), for sparse rows times the logarithm of a row's entries.
/// @throws BadInput, Failure  as DataSet::read()
RawRows coded_rows(const DataSet& data, const CodedBlock& block);

/// Reads the coded columns of a machine: the weighted sum, column by column, of sets of columns.
/// Each coded column is a row of the result, whose columns are the training rows. Labels are zeros.
/// Local; reads all training rows, 4096 at a time. O(entries of the data set x terms).
/// @throws BadInput, Failure  as DataSet::read()
RawRows coded_columns(const DataSet& data, const CodedBlock& block);

}  // namespace quorate
