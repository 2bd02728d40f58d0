// SPDX-License-Identifier: BSD-2-Clause
#include "code/byzantine_locator.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "code/reed_solomon.hpp"

namespace quorate {

namespace {

using Complex = std::complex<double>;

// The answers of the workers that are trusted so far.
class Answers {
public:
    Answers(int n, int s) : n_(n), s_(s), y_(n), received_(y_.size())
    {
        for (const auto& point : reed_solomon_points(n)) points_.emplace_back(point);
    }

    int workers() const { return n_; }
    /// alpha to the power i, i >= 0, alpha being the first point after 1.
    Complex power(std::int64_t i) const { return points_[i % n_]; }

    void add(int worker, Complex y)
    {
        y_[worker] = y;
        received_[worker] = true;
    }
    void remove(int worker) { received_[worker] = false; }
    bool received(int worker) const { return received_[worker]; }

    /// T_k, and `size` the sum of the absolute values in it.
    Eigen::VectorXcd syndromes(double& size) const
    {
        std::vector<int> missing;
        for (int i = 0; i < n_; ++i)
            if (!received(i)) missing.push_back(i);
        Eigen::VectorXcd sums = Eigen::VectorXcd::Zero(
            std::max<Eigen::Index>(0, s_ - static_cast<Eigen::Index>(missing.size())));
        size = 0;
        for (int i = 0; i < n_; ++i) {
            if (!received(i)) continue;
            Complex v = power(i);
            for (const int m : missing) v *= power(i) - power(m);
            v *= y_[i];
            size += std::abs(v);
            for (Eigen::Index k = 0; k < sums.size(); ++k) sums[k] += v * power(i * k);
        }
        return sums;
    }

private:
    int n_, s_;
    std::vector<Complex> points_, y_;
    std::vector<bool> received_;
};

// The `count` workers received that are nearest to roots of the locator polynomial.
std::vector<int> suspects(const Answers& answers, const Eigen::VectorXcd& sums, int count)
{
    const Eigen::Index rows = sums.size() - count;
    Eigen::MatrixXcd hankel(rows, count + 1);
    for (Eigen::Index k = 0; k < rows; ++k)
        for (Eigen::Index l = 0; l <= count; ++l) hankel(k, l) = sums[k + l];
    // Of its null space: with H the matrix and H^H P = Q R, the last column of Q is orthogonal to
    // all rows of H.
    const Eigen::VectorXcd locator =
        Eigen::ColPivHouseholderQR<Eigen::MatrixXcd>(hankel.adjoint()).householderQ() *
        Eigen::VectorXcd::Unit(count + 1, count);
    std::vector<std::pair<double, int>> distance;
    for (int i = 0; i < answers.workers(); ++i) {
        if (!answers.received(i)) continue;
        Complex value = 0;
        for (Eigen::Index l = 0; l <= count; ++l) value += locator[l] * answers.power(i * l);
        distance.emplace_back(std::abs(value), i);
    }
    std::ranges::sort(distance);
    std::vector<int> nearest;
    for (int i = 0; i < count; ++i) nearest.push_back(distance[i].second);
    return nearest;
}

}  // namespace

std::optional<std::vector<int>> locate_byzantine(int n, int s, const std::vector<int>& received,
                                                 const std::vector<Complex>& y, int most)
{
    Answers answers(n, s);
    std::vector<int> found;
    for (std::size_t i = 0; i < received.size(); ++i) {
        if (std::isfinite(y[i].real()) && std::isfinite(y[i].imag()))
            answers.add(received[i], y[i]);
        else
            found.push_back(received[i]);
    }
    const int left = most - static_cast<int>(found.size());
    if (left < 0) return std::nullopt;
    double size = 0;
    // Smaller errors cannot be told from rounding errors, and change the estimate no more than
    // these.
    constexpr double tolerance = 1e-9;
    const auto honest = [&](const Eigen::VectorXcd& sums) {
        return sums.size() == 0 || sums.cwiseAbs().maxCoeff() <= tolerance * size;
    };
    auto sums = answers.syndromes(size);
    if (!honest(sums)) {
        if (left == 0) return std::nullopt;
        for (const int worker : suspects(answers, sums, left)) {
            answers.remove(worker);
            found.push_back(worker);
        }
        sums = answers.syndromes(size);
        if (!honest(sums)) return std::nullopt;
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace quorate
