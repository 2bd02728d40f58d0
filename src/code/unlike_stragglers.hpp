// SPDX-License-Identifier: BSD-2-Clause
// Coefficients for workers of which some straggle more often than others, as a plain sum of what
// comes in time wants them. Local and pure.
#pragma once

#include <cstdint>
#include <vector>

#include "code/gradient_code.hpp"

namespace quorate {

/// By worker: the probability that it straggles, 0 or more and below 1.
using Straggling = std::vector<double>;

/// Gives an encoding the coefficients B_ij = (1 / p_i) / sum over holders l of j of
/// (1 - p_l) / p_l. The sum of what comes is then unbiased, and of the unbiased ones it has the
/// least variance if workers straggle independently: Lagrange's condition for holder i is
/// 2 B_ij p_i (1 - p_i) = lambda (1 - p_i). Holders that never straggle share their partition
/// equally. O(entries).
/// Source: Song, Choi, arXiv 2510.22539.
void weigh_by_straggling(Encoding& encoding, const Straggling& straggling);

/// E ||B^T a - 1||^2 with those coefficients: the sum over partitions of 1 / sum over holders of
/// (1 - p) / p. O(entries).
double expected_error(const Encoding& encoding, const Straggling& straggling);

/// d n copies of n partitions on n workers: a worker gets about as many as its probability to
/// answer is a part of all, n at most, and each copy is of a partition whose holders have the least
/// sum of (1 - p) / p so far. Ties are drawn by the seed. Coefficients are 1. O(d n^2).
/// Each partition has a holder.
Encoding reliable_assignment(int d, const Straggling& straggling, std::uint64_t seed);

/// Learns how often workers straggle from the rounds that are over. It begins with two imagined
/// rounds, of which each worker missed one.
class LearnedStraggling {
public:
    explicit LearnedStraggling(int workers) : answers_(static_cast<std::size_t>(workers), 1) {}
    void round(const std::vector<int>& answered);
    Straggling probabilities() const;

private:
    std::vector<double> answers_;  // by worker
    double rounds_ = 2;
};

}  // namespace quorate
