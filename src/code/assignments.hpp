// SPDX-License-Identifier: BSD-2-Clause
// Encodings of approximate codes: which worker holds which partitions. Random ones are keyed by a
// seed, so that every rank makes the same. Coefficients are 1 unless a comment says otherwise.
// Local and pure.
#pragma once

#include <cstdint>

#include "code/gradient_code.hpp"

namespace quorate {

/// n x n; each worker holds each partition with probability d/n. Rows and columns without any are
/// drawn again: a partition that nobody holds could never be recovered. O(n^2).
/// Source: Charles, Papailiopoulos, Ellenberg, arXiv 1711.06771.
Encoding bernoulli_assignment(int n, double d, std::uint64_t seed);

/// n x n; workers and partitions in `groups` blocks; probability `inside` where the blocks agree
/// and `outside` elsewhere. 1 and 0 are fractional repetition, equal ones Bernoulli. Rows and
/// columns without any are drawn again. O(n^2).
/// Source: Charles, Papailiopoulos, arXiv 1805.10378.
Encoding block_assignment(int n, int groups, double inside, double outside, std::uint64_t seed);

/// n x n; random, d partitions a worker and d workers a partition, none twice: the cyclic
/// assignment after 20 n d random switches of two edges. O(n d log d). @param d  1..n
Encoding regular_assignment(int n, int d, std::uint64_t seed);

/// n = m^2 workers and partitions, pairs (x, y) modulo m; each worker holds the eight neighbours of
/// its pair in the expander of Margulis, Gabber and Galil, with multiplicity as coefficient.
/// Second singular value at most 5 sqrt 2 of 8. @param m  2 or more
Encoding margulis_assignment(int m);

/// The projective plane over the integers modulo a prime q: n = q^2 + q + 1 lines (workers) and
/// points (partitions), q + 1 points on a line, any two lines share one. O(n^2).
/// Source: Kadhe, Koyluoglu, Ramchandran, "Gradient Coding Based on Block Designs", ISIT 2019.
Encoding plane_assignment(int q);

/// The order q of the plane with n points; 0 if there is none over a prime field.
int plane_order(int n);

/// Partitions are vertices, workers the edges of a random simple connected d-regular graph: each
/// holds two. k = 2 n / d vertices. The circulant graph after 20 n random switches of two edges.
/// @param d  divides 2 n, 2 <= d < 2 n / d
/// Source: Glasgow, Wootters, "Approximate Gradient Coding with Optimal Decoding", arXiv
/// 2006.09638.
Encoding graph_assignment(int n, int d, std::uint64_t seed);

/// Each partition is on d workers chosen uniformly at random, coefficient 1/d: pairwise balanced,
/// any two partitions share d^2/n workers in expectation. Some workers may hold nothing. O(n d).
/// Source: Bitar, Wootters, El Rouayheb, arXiv 1905.05383.
Encoding stochastic_assignment(int n, int d, std::uint64_t seed);

}  // namespace quorate
