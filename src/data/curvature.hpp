// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "data/data_set.hpp"

namespace quorate {

/// What bounds the curvature of losses over the training rows x_i of a data set: a step size
/// follows from it.
struct Curvature {
    double eigenvalue;  // the largest of sum_i x_i x_i' / rows
    double row_square;  // the largest |x_i|^2
};

/// Returns what the data set says of itself, or, for one that says nothing, measures it. Local.
/// @throws BadInput, Failure  as DataSet::read()
Curvature curvature_of(const DataSet& data);

/// Measures by power iteration, in a fixed order on one thread, so that all ranks get the same
/// bits. Reads all rows for their lengths, and iterates over a sample: the longest rows, and others
/// that are spread evenly and stand for the rest. So no row is so long that the eigenvalue misses
/// it. O(entries of the sample) for each of some ten iterations; 100 at most. What does not fit into
/// a number is infinite, or zero.
/// @param most  entries of the sample, about; if there are no more, it is all rows
/// @throws BadInput, Failure  as DataSet::read()
Curvature measured_curvature(const DataSet& data, double most = 4 << 20);

/// The number of the training rows that is farthest from 0, without its sign, and its column, from
/// 0.
struct LargestNumber {
    double size;
    std::int64_t column;
};

/// Finds it. O(entries). @throws BadInput, Failure  as DataSet::read()
LargestNumber largest_number(const DataSet& data);

}  // namespace quorate
