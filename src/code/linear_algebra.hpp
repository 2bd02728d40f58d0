// SPDX-License-Identifier: BSD-2-Clause
// Orthogonal decompositions for making and decoding codes. They are compiled once, because Eigen's
// templates take the compiler ten seconds in each file that calls them.
#pragma once

#include <Eigen/Core>

namespace quorate {

/// Returns the first columns of Q in columns = Q R, an orthonormal basis of the space that the
/// columns span. O(m n^2) for m x n.
Eigen::MatrixXd orthonormal(const Eigen::MatrixXd& columns);

/// Returns an orthonormal basis of the x with x^T a = 0, if a's rank is its number of rows less
/// `dimensions`. By QR with column pivoting, O(m^2 n) for m x n.
Eigen::MatrixXd left_null_space(const Eigen::MatrixXd& a, int dimensions);

/// Returns the rank. By QR with column pivoting, O(m n min(m, n)) for m x n.
int rank(const Eigen::MatrixXd& a);

/// Returns the shortest x among those that minimise |a x - b|. By complete orthogonal
/// decomposition, O(m n min(m, n)).
Eigen::VectorXd shortest_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace quorate
