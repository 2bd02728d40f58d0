// SPDX-License-Identifier: BSD-2-Clause
// The vectors that are aggregated, as rules look at them: a block of parameters of all of them at a
// time. So nobody has to hold them whole, and sums over parameters are those of base/block_sums.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/block_sums.hpp"
#include "base/numbers.hpp"

namespace quorate {

/// Vectors of equal length. A view: what `read` reads must outlive it.
struct Vectors {
    int count = 0;         // n
    std::size_t size = 0;  // parameters of each, or of a share of them
    /// Sets block(j, i) to element first + j of vector i. Called by several threads at once.
    std::function<void(std::size_t first, Eigen::MatrixXd& block)> read;
    ConstNumbers last = {};  // the estimate before; empty: zeros
    /// Keys of random numbers: of the run, and of the step.
    std::uint64_t seed = 0;
    std::int64_t step = 0;
    int threads = 1;
    SumBlocks add_up = sum_blocks;  // over all shares
};

/// Calls f for each block, which it may change. On several threads.
void for_blocks(const Vectors& vectors,
                const std::function<void(std::size_t first, Eigen::MatrixXd& block)>& f);

/// Returns sums over all parameters.
/// @param f  adds what a block adds to `count` sums
std::vector<double> sums_of(
    const Vectors& vectors, std::size_t count,
    const std::function<void(std::size_t first, const Eigen::MatrixXd& block,
                             std::span<double> sums)>& f);

/// The squared distances of all pairs, n x n. O(n^2 size).
Eigen::MatrixXd squared_distances(const Vectors& vectors);

/// A vector as a sum of others: the number and the weight of each.
using Combination = std::vector<std::pair<int, double>>;

/// The mean of vectors of these numbers.
Combination mean_of(std::span<const int> numbers);

/// Vectors that are made of others. Those that a combination does not name have no influence on it,
/// whatever they hold. @param of  what it refers to must outlive the result
Vectors combined(const Vectors& of, std::vector<Combination> all);

/// A combination of columns.
Eigen::VectorXd combination_of(const Eigen::MatrixXd& columns, const Combination& weights);

/// Sets result to a combination.
void combine(const Vectors& vectors, const Combination& weights, Numbers result);

/// The elements of one vector at a block. Empty: zeros.
Eigen::VectorXd block_of(ConstNumbers vector, std::size_t first, Eigen::Index rows);
/// Puts them there.
void put_block(const Eigen::VectorXd& block, std::size_t first, Numbers vector);

}  // namespace quorate
