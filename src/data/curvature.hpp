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

/// Measures by power iteration over all rows, with MatMult and MatMultTransposeAdd, on one thread.
/// The bits are the same on all hosts. It ends when the eigenvalue changes by less than 1e-6 of
/// itself, after 100 iterations at most; of more than 2^22 entries at 1e-4, after 20. What it finds
/// is at most the eigenvalue. O(entries) for each iteration, and once more for the lengths of rows.
/// What does not fit into a number is infinite, or zero. Needs PETSc to be initialised.
/// @param held_bytes  rows that take no more memory are read once, larger ones in each iteration;
///     and no more than a quarter of the free memory
/// @throws BadInput, Failure  as DataSet::read()
Curvature measured_curvature(const DataSet& data, double held_bytes = 1 << 29);

/// The number of the training rows that is farthest from 0, without its sign, and its column, from
/// 0.
struct LargestNumber {
    double size;
    std::int64_t column;
};

/// Finds it. O(entries). @throws BadInput, Failure  as DataSet::read()
LargestNumber largest_number(const DataSet& data);

}  // namespace quorate
