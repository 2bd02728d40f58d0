// SPDX-License-Identifier: BSD-2-Clause
#include "code/decompositions.hpp"

template class Eigen::ColPivHouseholderQR<Eigen::MatrixXd>;
template class Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd>;
