// SPDX-License-Identifier: BSD-2-Clause
#include "code/short_dot.hpp"

#include <Eigen/LU>
#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>

#include "code/storage_code.hpp"

namespace quorate {

namespace {

Eigen::MatrixXd matrix_of(const StorageCode& code)
{
    Eigen::MatrixXd g(code.machines(), code.blocks());
    for (int i = 0; i < code.machines(); ++i)
        for (int j = 0; j < code.blocks(); ++j) g(i, j) = code.coefficient(i, j);
    return g;
}

}  // namespace

ShortDot::ShortDot(const Eigen::MatrixXd& a, int workers, int needed, std::uint64_t seed)
    : m_(a.rows()), g_(matrix_of(StorageCode(Generator::haar, workers, needed, seed))),
      f_(workers, a.cols())
{
    // Below A stand further rows Z, chosen column by column so that G [A; Z] vanishes on K - M workers.
    const auto zeros = needed - m_;
    Eigen::MatrixXd silent(zeros, needed);
    Eigen::VectorXd column(needed);
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
        for (Eigen::Index i = 0; i < zeros; ++i) silent.row(i) = g_.row((j + i) % workers);
        column.head(m_) = a.col(j);
        if (zeros > 0)
            column.tail(zeros) =
                silent.rightCols(zeros).partialPivLu().solve(-silent.leftCols(m_) * a.col(j));
        f_.col(j) = g_ * column;
        for (Eigen::Index i = 0; i < zeros; ++i) f_((j + i) % workers, j) = 0;
    }
}

Eigen::VectorXd ShortDot::decode(std::span<const int> answered,
                                 const Eigen::VectorXd& answers) const
{
    Eigen::MatrixXd rows(g_.cols(), g_.cols());
    for (Eigen::Index i = 0; i < g_.cols(); ++i)
        rows.row(i) = g_.row(answered[static_cast<std::size_t>(i)]);
    return rows.partialPivLu().solve(answers).head(m_);
}

double mds_product_time(int workers, int needed, double mu)
{
    double harmonic = 0;  // H_n - H_{n-k}
    for (int i = workers - needed + 1; i <= workers; ++i) harmonic += 1.0 / i;
    return (1 + harmonic / mu) / needed;
}

double best_mds_share(double mu) { return 1 + 1 / boost::math::lambert_wm1(-std::exp(-mu - 1)); }

std::vector<double> heterogeneous_loads(std::span<const MachineSpeed> machines, double rows)
{
    std::vector<double> lambda;
    double rate = 0;
    for (const auto& [a, mu] : machines) {
        // exp(mu (l - a)) = 1 + mu l: with u = 1 + mu l it is u exp(-u) = exp(-1 - mu a).
        const double u = -boost::math::lambert_wm1(-std::exp(-1 - mu * a));
        lambda.push_back((u - 1) / mu);
        rate += mu / (1 + mu * lambda.back());
    }
    std::vector<double> loads;
    for (const double l : lambda) loads.push_back(rows / rate / l);
    return loads;
}

}  // namespace quorate
