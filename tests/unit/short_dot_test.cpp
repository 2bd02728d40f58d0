// SPDX-License-Identifier: BSD-2-Clause
// Coded matrix-vector products, and power iteration with them.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <random>

#include "code/short_dot.hpp"
#include "code/storage_code.hpp"

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
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> exact(a);
    EXPECT_NEAR(value, exact.eigenvalues().maxCoeff(), 1e-8 * value);
}

TEST(ShortDotTest, AnyEnoughAnswersGiveTheProductFromShortRows)
{
    std::mt19937 random(2);
    for (const auto& [m, p, k] : {std::tuple{3, 8, 5}, {2, 10, 7}, {4, 6, 6}, {3, 7, 3}}) {
        const Eigen::MatrixXd a = Eigen::MatrixXd::Random(m, 10 * p);
        const Eigen::VectorXd x = Eigen::VectorXd::Random(10 * p);
        const ShortDot code(a, p, k, 1);
        for (int worker = 0; worker < p; ++worker)
            EXPECT_EQ((code.rows().row(worker).array() != 0).count(), 10 * (p - k + m));
        for (int trial = 0; trial < 50; ++trial) {
            const auto answered = some(p, k, random);
            Eigen::VectorXd answers(k);
            for (int i = 0; i < k; ++i)
                answers[i] = code.rows().row(answered[static_cast<std::size_t>(i)]).dot(x);
            EXPECT_LT((code.decode(answered, answers) - a * x).cwiseAbs().maxCoeff(), 1e-8);
        }
    }
}

TEST(ProductTimeTest, TheBestShareIsTheOneOfTheClosedForm)
{
    for (const auto& [mu, share, time] :
         {std::tuple{0.5, 0.576, 4.715}, {1.0, 0.682, 3.146}, {3.0, 0.826, 1.916}}) {
        EXPECT_NEAR(best_mds_share(mu), share, 5e-4);
        int best = 1;
        const int n = 2000;
        for (int k = 1; k <= n; ++k)
            if (mds_product_time(n, k, mu) < mds_product_time(n, best, mu)) best = k;
        EXPECT_NEAR(static_cast<double>(best) / n, share, 2e-3);
        EXPECT_NEAR(n * mds_product_time(n, best, mu), time, 5e-3);
    }
    EXPECT_NEAR(200 * mds_product_time(200, 200, 1), 6.88, 5e-3);
}

TEST(ProductTimeTest, TheMeanTimeIsThatOfSimulatedWorkers)
{
    std::mt19937 random(3);
    std::exponential_distribution<double> times(1.0);
    const int n = 20, k = 13;
    double sum = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        std::vector<double> all;
        for (int i = 0; i < n; ++i) all.push_back((1 + times(random)) / k);
        std::ranges::nth_element(all, all.begin() + k - 1);
        sum += all[k - 1];
    }
    EXPECT_NEAR(sum / 20000, mds_product_time(n, k, 1), 0.005 * mds_product_time(n, k, 1));
}

TEST(ProductTimeTest, LoadsOfUnequalMachinesSolveTheirEquation)
{
    const std::vector<MachineSpeed> machines = {{1, 1}, {0.5, 2}, {2, 1}, {1, 5}};
    const auto loads = heterogeneous_loads(machines, 1000);
    // With t = 1000 / sum mu / (1 + mu lambda) and lambda = t / load: exp(mu (lambda - a)) = 1 + mu lambda.
    const auto residual = [&](double t) {
        double sum = 0, worst = 0;
        for (std::size_t i = 0; i < machines.size(); ++i) {
            const auto [a, mu] = machines[i];
            const double lambda = t / loads[i];
            worst = std::max(worst, std::abs(mu * (lambda - a) - std::log1p(mu * lambda)));
            sum += mu / (1 + mu * lambda);
        }
        return std::max(worst, std::abs(t - 1000 / sum) / t);
    };
    double best = 1;
    for (double t = 100; t < 2000; t += 0.01) best = std::min(best, residual(t));
    EXPECT_LT(best, 1e-4);
    const auto alone = heterogeneous_loads(std::vector<MachineSpeed>{{1, 1}}, 100);
    // lambda = 2.146: t* = 100 (1 + 2.146), load = t* / 2.146.
    EXPECT_NEAR(alone[0], 100 * 3.146 / 2.146, 0.05);
    // A slower machine gets less.
    EXPECT_LT(loads[2], loads[0]);
    EXPECT_GT(loads[1], loads[0]);
}

}  // namespace
