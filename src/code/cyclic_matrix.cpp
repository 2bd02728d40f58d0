// SPDX-License-Identifier: BSD-2-Clause
#include "code/cyclic_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "base/random.hpp"
#include "code/linear_algebra.hpp"

namespace quorate {

namespace {

using Complex = std::complex<long double>;
constexpr long double pi = std::numbers::pi_v<long double>;

// Angle of root l of g: 2 pi e / n with the exponents e = n/2 + l - (s-1)/2, which are whole
// numbers (roots of 1) if n - s is odd and halves (roots of -1) if it is even.
long double angle(int n, int s, int l) { return pi * (n + 2 * l - (s - 1)) / n; }

// Coefficients of g, lowest first. Roots come in conjugate pairs, so they are real.
std::vector<double> generator(int n, int s)
{
    std::vector<Complex> g = {1};
    for (int l = 0; l < s; ++l) {
        const Complex root = std::polar(1.0L, angle(n, s, l));
        g.push_back(0);
        for (std::size_t j = g.size() - 1; j > 0; --j) g[j] = g[j - 1] - root * g[j];
        g[0] *= -root;
    }
    std::vector<double> real;
    for (const auto& coefficient : g) real.push_back(static_cast<double>(coefficient.real()));
    return real;
}

Complex value(const std::vector<double>& g, Complex x)
{
    Complex sum = 0;
    for (std::size_t j = g.size(); j-- > 0;) sum = sum * x + Complex(g[j]);
    return sum;
}

}  // namespace

Row cyclic_row(const std::vector<double>& coefficients, int n, int i)
{
    Row row;
    for (int j = 0; j < static_cast<int>(coefficients.size()); ++j)
        row.push_back({(i + j) % n, coefficients[j]});
    std::ranges::sort(row, {}, &Coefficient::partition);
    return row;
}

LinearCode mds_code(int n, int s)
{
    const bool negacyclic = (n - s) % 2 == 0;
    const auto g = generator(n, s);
    LinearCode code{{n, {}}, Eigen::MatrixXd(n, s), Eigen::VectorXd(n)};
    // B = R B0 V^-1: columns divided by v, rows scaled to a largest coefficient of one.
    const auto v = [&](int j) { return negacyclic ? std::sin(pi * (j + 0.5L) / n) : 1.0L; };
    std::vector<long double> scale;
    for (int i = 0; i < n; ++i) {
        std::vector<double> row;
        for (int j = 0; j <= s; ++j) {
            const bool wrapped = i + j >= n;
            const auto c = static_cast<long double>(g[j]);
            row.push_back(static_cast<double>((negacyclic && wrapped ? -c : c) / v((i + j) % n)));
        }
        double largest = 0;
        for (const double c : row) largest = std::max(largest, std::abs(c));
        for (double& c : row) c /= largest;
        scale.push_back(1 / static_cast<long double>(largest));
        code.encoding.rows.push_back({cyclic_row(row, n, i)});
    }
    // y^T B0 = 0 for y_i = w^i with w a root of g: real and imaginary parts of conjugate pairs.
    // Then (y / R)^T B = 0.
    for (int l = 0; l < s; ++l) {
        const auto theta = angle(n, s, l);
        const bool sine = 2 * l >= s;  // the second of the pair, whose angle is 2 pi - theta
        for (int i = 0; i < n; ++i) {
            const auto phase = std::fmod(theta * i, 2 * pi);
            code.null_space(i, l) =
                static_cast<double>((sine ? std::sin(phase) : std::cos(phase)) / scale[i]);
        }
    }
    if (s > 0) code.null_space = orthonormal(code.null_space);
    // B^T a = 1. Cyclic: B0^T x = 1 for x = 1/g(1). Negacyclic: B0^T x = v for x the v of a rotated
    // phase, because v is an eigenvector: x_i = Im(e^(i pi (i + 1/2) / n) / g(e^(-i pi / n))).
    const Complex factor = Complex(1) / value(g, std::polar(1.0L, negacyclic ? -pi / n : 0.0L));
    for (int i = 0; i < n; ++i) {
        const auto x =
            negacyclic ? (factor * std::polar(1.0L, pi * (i + 0.5L) / n)).imag() : factor.real();
        code.all_weights[i] = static_cast<double>(x / scale[i]);
    }
    code.all_weights -= code.null_space * (code.null_space.transpose() * code.all_weights);
    return code;
}

namespace {

LinearCode random_code(int n, int s, Stream& stream)
{
    // H in R^(s x n), normal but for the last column, which makes H 1 = 0.
    Eigen::MatrixXd h(s, n);
    for (int j = 0; j < n - 1; ++j)
        for (int i = 0; i < s; ++i) h(i, j) = stream.normal();
    h.col(n - 1) = -h.leftCols(n - 1).rowwise().sum();
    LinearCode code{{n, {}}, {}, {}};
    for (int i = 0; i < n; ++i) {
        // B[i,i] = 1; B[i, i+1..i+s] = x with H[:, i+1..i+s] x = -H[:, i].
        std::vector<int> window(s);
        for (int j = 0; j < s; ++j) window[j] = (i + 1 + j) % n;
        std::vector<double> row = {1};
        const Eigen::VectorXd column = -h.col(i);
        if (s > 0) {
            const Eigen::VectorXd x = shortest_solution(h(Eigen::all, window), column);
            row.insert(row.end(), x.begin(), x.end());
        }
        code.encoding.rows.push_back({cyclic_row(row, n, i)});
    }
    const auto b = dense(code.encoding);
    code.null_space = left_null_space(b, s);
    code.all_weights = shortest_solution(b.transpose(), Eigen::VectorXd::Ones(n));
    return code;
}

}  // namespace

RandomCode random_cyclic_code(int n, int s, std::uint64_t seed)
{
    constexpr std::uint32_t draws = 32;
    constexpr int patterns = 64;
    RandomCode best{{}, std::numeric_limits<double>::infinity()};
    for (std::uint32_t draw = 0; draw < draws; ++draw) {
        Stream stream(seed, Purpose::code, draw);
        auto code = random_code(n, s, stream);
        double largest = 0;
        std::vector<int> order(n);
        std::iota(order.begin(), order.end(), 0);
        for (int pattern = 0; pattern < patterns; ++pattern) {
            stream.shuffle(order);
            std::vector<int> missing(order.begin(), order.begin() + s);
            std::ranges::sort(missing);
            const auto a = decoding_weights(code, missing);
            largest = std::max(largest, a.lpNorm<Eigen::Infinity>());
        }
        if (largest < best.largest_weight) best = {std::move(code), largest};
    }
    return best;
}

}  // namespace quorate
