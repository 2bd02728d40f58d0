// SPDX-License-Identifier: BSD-2-Clause
#include "code/decompositions.hpp"
#include "code/linear_algebra.hpp"

namespace quorate {

Eigen::VectorXd shortest_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b)
{
    return a.completeOrthogonalDecomposition().solve(b);
}

}  // namespace quorate
