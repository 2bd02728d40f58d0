// SPDX-License-Identifier: BSD-2-Clause
// Averaging without a coordinator: what the consensus form of anytime minibatch does in place of a sum.
#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

namespace quorate {

/// Symmetric and doubly stochastic weights of a graph: P_ij = 1 / (1 + max(deg_i, deg_j)) for neighbours,
/// the rest of each row on the diagonal. m <- P m keeps sums, and brings every m_i nearer to the mean by
/// the second largest eigenvalue's modulus.
/// @param edges  of nodes 0..n-1
/// Source: Xiao, Boyd, Kim, "Distributed Average Consensus with Least-Mean-Square Deviation", 2007.
Eigen::MatrixXd metropolis_weights(int n, const std::vector<std::pair<int, int>>& edges);

}  // namespace quorate
