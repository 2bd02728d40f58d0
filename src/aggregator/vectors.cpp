// SPDX-License-Identifier: BSD-2-Clause
#include "aggregator/vectors.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace quorate {

void for_blocks(const Vectors& vectors,
                const std::function<void(std::size_t first, Eigen::MatrixXd& block)>& f)
{
    ranges_in_parallel(vectors.size, sum_block, vectors.threads,
                       [&](std::size_t first, std::size_t last) {
                           Eigen::MatrixXd block(last - first, vectors.count);
                           vectors.read(first, block);
                           f(first, block);
                       });
}

std::vector<double> sums_of(
    const Vectors& vectors, std::size_t count,
    const std::function<void(std::size_t first, const Eigen::MatrixXd& block,
                             std::span<double> sums)>& f)
{
    std::vector<double> blocks(blocks_of(vectors.size) * count), sums(count);
    for_blocks(vectors, [&](std::size_t first, const Eigen::MatrixXd& block) {
        f(first, block, std::span(blocks).subspan(first / sum_block * count, count));
    });
    vectors.add_up(blocks, sums);
    return sums;
}

Eigen::MatrixXd squared_distances(const Vectors& vectors)
{
    const int n = vectors.count;
    const auto sums =
        sums_of(vectors, static_cast<std::size_t>(n * (n - 1) / 2),
                [n](std::size_t, const Eigen::MatrixXd& block, std::span<double> pairs) {
                    auto pair = pairs.begin();
                    for (int i = 0; i < n; ++i)
                        for (int j = 0; j < i; ++j)
                            *pair++ = (block.col(i) - block.col(j)).squaredNorm();
                });
    Eigen::MatrixXd distances = Eigen::MatrixXd::Zero(n, n);
    auto pair = sums.begin();
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j) distances(i, j) = distances(j, i) = *pair++;
    return distances;
}

Combination mean_of(std::span<const int> numbers)
{
    Combination mean;
    for (const int number : numbers)
        mean.emplace_back(number, 1 / static_cast<double>(numbers.size()));
    return mean;
}

Eigen::VectorXd combination_of(const Eigen::MatrixXd& columns, const Combination& weights)
{
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(columns.rows());
    for (const auto& [number, weight] : weights) sum += weight * columns.col(number);
    return sum;
}

Vectors combined(const Vectors& of, std::vector<Combination> all)
{
    auto made = of;
    made.count = static_cast<int>(all.size());
    made.read = [read = of.read, count = of.count, all = std::move(all)](std::size_t first,
                                                                         Eigen::MatrixXd& block) {
        Eigen::MatrixXd given(block.rows(), count);
        read(first, given);
        for (Eigen::Index i = 0; i < block.cols(); ++i)
            block.col(i) = combination_of(given, all[static_cast<std::size_t>(i)]);
    };
    return made;
}

void combine(const Vectors& vectors, const Combination& weights, Numbers result)
{
    for_blocks(vectors, [&](std::size_t first, const Eigen::MatrixXd& block) {
        put_block(combination_of(block, weights), first, result);
    });
}

Eigen::VectorXd block_of(ConstNumbers vector, std::size_t first, Eigen::Index rows)
{
    Eigen::VectorXd block = Eigen::VectorXd::Zero(rows);
    if (!vector.empty())
        copy(vector.subspan(first, static_cast<std::size_t>(rows)),
             std::span(block.data(), static_cast<std::size_t>(rows)));
    return block;
}

void put_block(const Eigen::VectorXd& block, std::size_t first, Numbers vector)
{
    const auto rows = static_cast<std::size_t>(block.size());
    copy(std::span(block.data(), rows), vector.subspan(first, rows));
}

}  // namespace quorate
