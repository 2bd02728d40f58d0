// SPDX-License-Identifier: BSD-2-Clause
#include "code/storage_code.hpp"

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/random.hpp"
#include "code/linear_algebra.hpp"

namespace quorate {

namespace {

using Eigen::MatrixXd;

MatrixXd gaussian(int rows, int columns, std::uint64_t seed, std::uint32_t draw)
{
    constexpr std::uint32_t storage = 100;  // not a number that gradient codes use
    Stream stream(seed, Purpose::code, storage, draw);
    MatrixXd g(rows, columns);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) g(i, j) = stream.normal();
    return g;
}

double condition_of(const Eigen::PartialPivLU<MatrixXd>& lu)
{
    const double reciprocal = lu.rcond();
    return reciprocal > 0 ? 1 / reciprocal : std::numeric_limits<double>::infinity();
}

double worst_window_of(const MatrixXd& g)
{
    const auto machines = g.rows(), blocks = g.cols();
    double worst = 0;
    MatrixXd window(blocks, blocks);
    for (auto there = blocks; there <= machines; ++there)
        for (Eigen::Index first = 0; first < there; ++first) {
            for (Eigen::Index row = 0; row < blocks; ++row)
                window.row(row) = g.row((first + row) % there);
            worst = std::max(worst, condition_of(window.lu()));
        }
    return worst;
}

MatrixXd haar(int machines, int blocks, std::uint64_t seed, std::uint32_t draw)
{
    const MatrixXd q = orthonormal(gaussian(machines, blocks, seed, draw));
    return q * std::sqrt(static_cast<double>(machines) / blocks);  // rows of length about 1
}

MatrixXd systematic(int machines, int blocks, std::uint64_t seed, std::uint32_t draw)
{
    MatrixXd g(machines, blocks);
    g.topRows(blocks) = MatrixXd::Identity(blocks, blocks);
    const int others = machines - blocks;
    if (others > 0) g.bottomRows(others) = gaussian(others, blocks, seed, draw) / std::sqrt(blocks);
    return g;
}

template <class Make>
MatrixXd best_of(int draws, Make make)
{
    MatrixXd best;
    double least = std::numeric_limits<double>::infinity();
    for (int draw = 0; draw < draws; ++draw) {
        auto g = make(static_cast<std::uint32_t>(draw));
        const double worst = worst_window_of(g);
        if (draw > 0 && worst >= least) continue;
        least = worst;
        best = std::move(g);
    }
    return best;
}

// Frequencies are 0, 1, ... for odd L and 1/2, 3/2, ... for even L. If neighbouring machines had
// neighbouring points, their rows would be nearly dependent; in golden order they are far apart.
MatrixXd fourier(int machines, int blocks)
{
    auto stride = static_cast<int>(std::lround(0.618 * machines));
    while (std::gcd(std::max(stride, 1), machines) != 1) ++stride;
    stride = std::max(stride, 1);
    const double scale = std::sqrt(2.0 / blocks);
    MatrixXd g(machines, blocks);
    for (int machine = 0; machine < machines; ++machine) {
        const double angle = 2 * std::numbers::pi *
                             static_cast<double>(std::int64_t{machine} * stride % machines) /
                             machines;
        const bool odd = blocks % 2 == 1;
        int column = 0;
        if (odd) g(machine, column++) = scale / std::numbers::sqrt2;
        for (double f = odd ? 1 : 0.5; column < blocks; ++f) {
            g(machine, column++) = scale * std::cos(f * angle);
            g(machine, column++) = scale * std::sin(f * angle);
        }
    }
    return g;
}

MatrixXd generate(Generator generator, int machines, int blocks, std::uint64_t seed)
{
    constexpr int draws = 20;
    switch (generator) {
        case Generator::haar:
            return best_of(draws, [&](auto draw) { return haar(machines, blocks, seed, draw); });
        case Generator::systematic:
            return best_of(draws,
                           [&](auto draw) { return systematic(machines, blocks, seed, draw); });
        default: return fourier(machines, blocks);
    }
}

}  // namespace

StorageCode::StorageCode(Generator generator, int machines, int blocks, std::uint64_t seed)
    : g_(generate(generator, machines, blocks, seed))
{
}

const StorageCode::Decoding& StorageCode::decoding(const std::vector<int>& machines) const
{
    const auto known = decodings_.find(machines);
    if (known != decodings_.end()) return known->second;
    MatrixXd rows(blocks(), blocks());
    for (int m = 0; m < blocks(); ++m) rows.row(m) = g_.row(machines[m]);
    const Eigen::PartialPivLU<MatrixXd> lu(rows);
    return decodings_
        .emplace(machines,
                 Decoding{lu.solve(MatrixXd::Identity(blocks(), blocks())), condition_of(lu)})
        .first->second;
}

std::vector<double> StorageCode::substitution(int target, const std::vector<int>& machines) const
{
    const Eigen::RowVectorXd c = g_.row(target) * decoding(machines).inverse;
    return {c.begin(), c.end()};
}

double StorageCode::worst_window() const { return worst_window_of(g_); }

}  // namespace quorate
