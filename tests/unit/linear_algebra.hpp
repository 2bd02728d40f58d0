// SPDX-License-Identifier: BSD-2-Clause
// What tests check codes against, compiled once: Eigen's decompositions take the compiler ten
// seconds a file.
#pragma once

#include <Eigen/Core>

namespace quorate::test {

/// Largest first.
Eigen::VectorXd singular_values(const Eigen::MatrixXd& a);

/// The shortest x among those that minimise |a x - b|.
Eigen::VectorXd solve_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace quorate::test
