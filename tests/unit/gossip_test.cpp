// SPDX-License-Identifier: BSD-2-Clause
// The consensus matrix of anytime minibatch: schemes.md's T8.4.
#include "code/gossip.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

namespace {

// The reference graph of ten nodes.
const std::vector<std::pair<int, int>> edges = {{0, 1}, {0, 5}, {0, 9}, {1, 2}, {1, 3}, {1, 6},
                                                {1, 7}, {1, 9}, {2, 3}, {3, 5}, {3, 7}, {4, 5},
                                                {5, 8}, {5, 9}, {6, 7}, {8, 9}};

TEST(Gossip, TheReferenceGraphHasItsEigenvalue)
{
    const auto p = quorate::metropolis_weights(10, edges);
    EXPECT_LT((p - p.transpose()).norm(), 1e-15);
    EXPECT_GE(p.minCoeff(), 0);
    for (int i = 0; i < 10; ++i) EXPECT_NEAR(p.row(i).sum(), 1, 1e-14);
    const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(p).eigenvalues();
    EXPECT_NEAR(std::max(values[8], -values[0]), 0.8884, 5e-5);
}

TEST(Gossip, RoundsKeepTheSumAndShrinkTheDisagreement)
{
    const auto p = quorate::metropolis_weights(10, edges);
    Eigen::VectorXd m = Eigen::VectorXd::LinSpaced(10, -3, 7).array().sin();
    const double sum = m.sum(), begin = (m.array() - m.mean()).matrix().norm();
    for (int round = 1; round <= 50; ++round) {
        m = p * m;
        EXPECT_NEAR(m.sum(), sum, 1e-12);
        EXPECT_LE((m.array() - m.mean()).matrix().norm(), begin * std::pow(0.88845, round) + 1e-15);
    }
}

}  // namespace
