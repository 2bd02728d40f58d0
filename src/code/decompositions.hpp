// SPDX-License-Identifier: BSD-2-Clause
// Orthogonal decompositions with column pivoting, compiled once in code/decompositions.cpp, because
// they take the compiler three quarters of a gigabyte.
#pragma once

#include <Eigen/QR>

extern template class Eigen::ColPivHouseholderQR<Eigen::MatrixXd>;
extern template class Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd>;
