// SPDX-License-Identifier: BSD-2-Clause
#include "code/short_code.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/random.hpp"
#include "code/linear_algebra.hpp"

namespace quorate {

ShortCode::ShortCode(ShortCodeBasis basis_of_v)
    : last_(std::move(basis_of_v.last)), w_(std::move(basis_of_v.complement))
{
    const int n = workers(), d = load();
    for (int j = 0; j < n; ++j) {
        std::vector<int> holders;
        for (int i = j - d + 1; i <= j; ++i) holders.push_back((i + n) % n);
        // x W^T = 0 for x supported on the holders: m dimensions.
        const Eigen::MatrixXd basis = stragglers() == 0
                                          ? Eigen::MatrixXd::Identity(d, d)
                                          : left_null_space(w_(holders, Eigen::all), pieces());
        // The coordinates of x in the rows of V are x V^T / n.
        const Eigen::MatrixXd last = last_(Eigen::all, holders) * basis / n;
        Eigen::MatrixXd b = Eigen::MatrixXd::Zero(pieces(), n);
        for (int h = 0; h < d; ++h)
            b.col(holders[h]) = shortest_solution(last.transpose(), basis.row(h).transpose());
        b_.push_back(std::move(b));
    }
}

Eigen::MatrixXd ShortCode::weights(const std::vector<int>& missing) const
{
    // V A = [0; I] for A = V^T [0; I] / n + W^T Z; Z is the shortest that makes A vanish at the
    // missing.
    Eigen::MatrixXd a = last_.transpose() / workers();
    if (missing.empty()) return a;
    const Eigen::MatrixXd at = w_(missing, Eigen::all);
    for (int u = 0; u < pieces() && stragglers() > 0; ++u) {
        const Eigen::VectorXd there = a(missing, u);
        a.col(u) += w_ * shortest_solution(at, -there);
    }
    for (const int i : missing) a.row(i).setZero();
    return a;
}

template <class F>
void ShortCode::deviations(const Eigen::MatrixXd& weights, F f) const
{
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(pieces(), pieces());
    for (int j = 0; j < workers(); ++j) {
        Eigen::MatrixXd sum = -identity;
        for (int i = j - load() + 1; i <= j; ++i) {
            const int worker = (i + workers()) % workers();
            sum += b_[j].col(worker) * weights.row(worker);
        }
        f(sum);
    }
}

double ShortCode::residual(const Eigen::MatrixXd& weights) const
{
    double largest = 0;
    deviations(weights, [&](const Eigen::MatrixXd& sum) {
        const double here = sum.lpNorm<Eigen::Infinity>();
        if (!(here <= largest)) largest = here;  // NaN too
    });
    return largest;
}

double ShortCode::error(const Eigen::MatrixXd& weights) const
{
    double squares = 0;
    deviations(weights, [&](const Eigen::MatrixXd& sum) { squares += sum.squaredNorm(); });
    return squares;
}

namespace {

// How many sets of s of n there are.
double patterns(int n, int s)
{
    double count = 1;
    for (int i = 0; i < s; ++i) count = count * (n - i) / (i + 1);
    return count;
}

}  // namespace

double ShortCode::amplification(std::uint64_t seed) const
{
    constexpr int random_sets = 30;
    constexpr double all_patterns = 1000;
    const int n = workers(), s = stragglers();
    Eigen::VectorXd largest = Eigen::VectorXd::Zero(n);  // |B| of each worker
    for (const auto& b : b_)
        largest = largest.cwiseMax(b.cwiseAbs().colwise().maxCoeff().transpose());
    double all = 0;
    const auto look = [&](std::vector<int> missing) {
        std::ranges::sort(missing);
        const Eigen::VectorXd a = weights(missing).cwiseAbs().rowwise().maxCoeff();
        const double here = a.cwiseProduct(largest).maxCoeff();
        if (!(here <= all)) all = here;
    };
    if (patterns(n, s) <= all_patterns) {
        std::vector<int> pattern(n);  // 1: missing
        std::fill_n(pattern.begin(), s, 1);
        do {
            std::vector<int> missing;
            for (int i = 0; i < n; ++i)
                if (pattern[i] == 1) missing.push_back(i);
            look(std::move(missing));
        } while (std::ranges::prev_permutation(pattern).found);
        return all;
    }
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    for (int first = 0; first < n; ++first) {
        std::vector<int> run;
        for (int i = 0; i < s; ++i) run.push_back((first + i) % n);
        look(std::move(run));
    }
    Stream stream(seed, Purpose::code);
    for (int set = 0; set < random_sets; ++set) {
        stream.shuffle(order);
        look({order.begin(), order.begin() + s});
    }
    return all;
}

std::optional<ShortCodeBasis> fourier_basis(int n, int s, int m)
{
    const int count = n - s;
    const bool whole = count % 2 == 1;
    if (!whole && m % 2 == 1) return std::nullopt;
    // Twice a frequency below n / 2 stands for the rows of its cosine and its sine; n and 0, of
    // which every sine is zero, for one row.
    const auto fill = [n](Eigen::MatrixXd& rows, int twice, int limit) {
        for (int row = 0; row < rows.rows() && twice < limit; twice += 2) {
            const bool single = twice == 0 || twice == n;
            for (int i = 0; i < n; ++i) {
                const double angle =
                    std::numbers::pi * (std::int64_t{twice} * i % (std::int64_t{2} * n)) / n;
                rows(row, i) = (single ? 1 : std::numbers::sqrt2) * std::cos(angle);
                if (!single) rows(row + 1, i) = std::numbers::sqrt2 * std::sin(angle);
            }
            row += single ? 1 : 2;
        }
    };
    ShortCodeBasis basis{Eigen::MatrixXd(m, n), Eigen::MatrixXd(n, s)};
    const int begin = whole ? 0 : 1;
    // The constant, of whole frequency 0, is one of an odd number of rows only.
    fill(basis.last, whole && m % 2 == 0 ? 2 : begin, count + 1);
    Eigen::MatrixXd others(s, n);
    fill(others, count + 1, n + 1);
    basis.complement = others.transpose() / std::sqrt(n);
    return basis;
}

ShortCodeBasis haar_basis(int n, int s, int m, std::uint64_t seed, std::uint32_t draw)
{
    Stream stream(seed, Purpose::code, draw + 1);
    Eigen::MatrixXd normal(n, s + m);
    for (auto& element : normal.reshaped()) element = stream.normal();
    const Eigen::MatrixXd q = orthonormal(normal);
    return {std::sqrt(n) * q.leftCols(m).transpose(), q.rightCols(s)};
}

std::pair<ShortCode, double> best_short_code(int n, int s, int m, std::uint64_t seed)
{
    constexpr std::uint32_t draws = 16;
    std::optional<ShortCode> best;
    double least = 0;
    const auto look = [&](ShortCodeBasis basis) {
        ShortCode code(std::move(basis));
        const double here = code.amplification(seed);
        if (best && !(here < least)) return;
        best = std::move(code);
        least = here;
    };
    if (auto basis = fourier_basis(n, s, m)) look(std::move(*basis));
    for (std::uint32_t draw = 0; draw < draws; ++draw) look(haar_basis(n, s, m, seed, draw));
    return {std::move(*best), least};
}

}  // namespace quorate
