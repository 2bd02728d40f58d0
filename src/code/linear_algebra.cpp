// SPDX-License-Identifier: BSD-2-Clause
#include "code/linear_algebra.hpp"

#include "code/decompositions.hpp"

namespace quorate {

Eigen::MatrixXd orthonormal(const Eigen::MatrixXd& columns)
{
    return Eigen::HouseholderQR<Eigen::MatrixXd>(columns).householderQ() *
           Eigen::MatrixXd::Identity(columns.rows(), columns.cols());
}

Eigen::MatrixXd left_null_space(const Eigen::MatrixXd& a, int dimensions)
{
    Eigen::MatrixXd last = Eigen::MatrixXd::Zero(a.rows(), dimensions);
    last.bottomRows(dimensions).setIdentity();
    return Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(a).householderQ() * last;
}

int rank(const Eigen::MatrixXd& a)
{
    return static_cast<int>(Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(a).rank());
}

}  // namespace quorate
