// SPDX-License-Identifier: BSD-2-Clause
#include "linear_algebra.hpp"

#include <Eigen/SVD>

namespace quorate::test {

Eigen::VectorXd singular_values(const Eigen::MatrixXd& a)
{
    return Eigen::JacobiSVD<Eigen::MatrixXd>(a).singularValues();
}

Eigen::VectorXd solve_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b)
{
    return Eigen::JacobiSVD<Eigen::MatrixXd>(a, Eigen::ComputeThinU | Eigen::ComputeThinV).solve(b);
}

}  // namespace quorate::test
