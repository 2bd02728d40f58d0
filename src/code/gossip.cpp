// SPDX-License-Identifier: BSD-2-Clause
#include "code/gossip.hpp"

#include <algorithm>

namespace quorate {

Eigen::MatrixXd metropolis_weights(int n, const std::vector<std::pair<int, int>>& edges)
{
    std::vector<int> degree(static_cast<std::size_t>(n));
    for (const auto& [i, j] : edges) {
        ++degree[static_cast<std::size_t>(i)];
        ++degree[static_cast<std::size_t>(j)];
    }
    Eigen::MatrixXd p = Eigen::MatrixXd::Zero(n, n);
    for (const auto& [i, j] : edges)
        p(i, j) = p(j, i) = 1.0 / (1 + std::max(degree[static_cast<std::size_t>(i)],
                                                degree[static_cast<std::size_t>(j)]));
    for (int i = 0; i < n; ++i) p(i, i) = 1 - p.row(i).sum();
    return p;
}

}  // namespace quorate
