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

/// Measures by power iteration, in a fixed order on one thread, so that all ranks get the same bits.
/// Looks at about four million entries at most, of rows that are spread evenly. O(these entries) for each of
/// some ten iterations; 100 at most.
/// @throws BadInput, Failure  as DataSet::read()
Curvature measured_curvature(const DataSet& data);

}  // namespace quorate
