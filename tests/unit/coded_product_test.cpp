// SPDX-License-Identifier: BSD-2-Clause
// Coded matrix-vector products, and power iteration with them.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <random>

#include "code/storage_code.hpp"
#include "linear_algebra.hpp"

namespace {

using namespace quorate;

std::vector<int> some(int of, int count, std::mt19937& random)
{
    std::vector<int> all(static_cast<std::size_t>(of));
    for (int i = 0; i < of; ++i) all[static_cast<std::size_t>(i)] = i;
    std::ranges::shuffle(all, random);
    all.resize(static_cast<std::size_t>(count));
    std::ranges::sort(all);
    return all;
}

// y = A x from the coded blocks of `blocks` of the machines.
Eigen::VectorXd coded_product(const Eigen::MatrixXd& a, const Eigen::VectorXd& x,
                              const StorageCode& code, const std::vector<int>& answered)
{
    const auto height = a.rows() / code.blocks();
    const auto& inverse = code.decoding(answered).inverse;
    Eigen::VectorXd y = Eigen::VectorXd::Zero(a.rows());
    for (std::size_t m = 0; m < answered.size(); ++m) {
        Eigen::MatrixXd stored = Eigen::MatrixXd::Zero(height, a.cols());
        for (int i = 0; i < code.blocks(); ++i)
            stored += code.coefficient(answered[m], i) * a.middleRows(i * height, height);
        const Eigen::VectorXd answer = stored * x;
        for (int i = 0; i < code.blocks(); ++i)
            y.segment(i * height, height) += inverse(i, static_cast<Eigen::Index>(m)) * answer;
    }
    return y;
}

TEST(CodedProductTest, PowerIterationFindsTheLargestEigenvalueFromAnyThreeOfFive)
{
    std::mt19937 random(1);
    const Eigen::MatrixXd half = Eigen::MatrixXd::Random(30, 30);
    const Eigen::MatrixXd a = half * half.transpose();
    const StorageCode code(Generator::haar, 5, 3, 2);
    Eigen::VectorXd x = Eigen::VectorXd::Ones(30).normalized();
    double value = 0;
    for (int round = 0; round < 2000; ++round) {
        const Eigen::VectorXd y = coded_product(a, x, code, some(5, 3, random));
        value = x.dot(y);
        x = y.normalized();
    }
    EXPECT_NEAR(value, test::singular_values(a)[0], 1e-8 * value);
}

}  // namespace
