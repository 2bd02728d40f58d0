// SPDX-License-Identifier: BSD-2-Clause
// The folds of a cross-validation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/data_set.hpp"

namespace quorate {

/// Deals rows out to folds, in an order that only the seed decides: first all rows of one class,
/// then those of the next. So folds differ by at most one row, and by at most one of each class,
/// however the rows are sorted. Local. O(rows log rows).
/// @param labels   of the rows
/// @param classes  whether labels are classes; rows with labels that are numbers are just shuffled
/// @return the fold of each row, 0 to folds - 1
std::vector<int> stratified_folds(std::span<const double> labels, bool classes, int folds,
                                  std::uint64_t seed);

/// Reads all training rows, and takes them apart by fold. Rows of a fold keep their order. Local.
/// @param fold_of  the fold of each row
/// @throws BadInput, Failure  as DataSet::read()
std::vector<RawRows> read_folds(const DataSet& data, std::span<const int> fold_of, int folds);

}  // namespace quorate
