// SPDX-License-Identifier: BSD-2-Clause
// Cyclic codes: worker i holds the partitions i, i+1, ..., i+d-1 (mod n); any s = d - 1 workers may
// be missing, whether or not d divides n.
#pragma once

#include <cstdint>

#include "code/null_space_decoder.hpp"

namespace quorate {

/// Deterministic real MDS code, cyclic if n - s is odd and negacyclic if it is even.
///
/// The generator polynomial g has as roots the s n-th roots of 1 (of -1, negacyclic) nearest to -1;
/// row i of B0 is x^i g(x) modulo x^n - 1 (x^n + 1). Any n - s rows span a code that contains the
/// all-ones word (negacyclic: v_j = sin(pi (j + 1/2) / n), by which column j is divided).
/// O(n s^2). @param s  0..n-1
/// Source: Raviv, Tamo, Tandon, Dimakis, "Gradient Coding from Cyclic MDS Codes and Expander Graphs",
/// arXiv 1707.03858; the negacyclic case is ours.
LinearCode mds_code(int n, int s);

/// The deterministic code with its decoder: d = s + 1 partitions a worker, or s + 2 where a negacyclic
/// code would lose too many digits (n - s even, and s > n/4 or s > 6: measured at n = 100, s = 8,
/// decoding weights reach 1e7 and the error 1e-9; with one more partition and the cyclic code for
/// s + 1 stragglers both are a hundred times less).
GradientCode cyclic_code(int n, int s);

/// The original construction with random coefficients: the best of 32 draws by the largest decoding
/// weight over sampled patterns. O(32 n^3).
/// Source: Tandon, Lei, Dimakis, Karampatziakis, "Gradient Coding", ICML 2017, Algorithm 2.
struct RandomCode {
    LinearCode code;
    double largest_weight;  // over the sampled patterns: 1e5 or more loses too many digits
};
RandomCode random_cyclic_code(int n, int s, std::uint64_t seed);

/// Worker i holds c partitions i, ..., i+c-1 (mod n), coefficients 1.
Encoding cyclic_windows(int n, int c);

/// All coefficients one; needs d = s + 1 dividing n. Whatever s workers are missing, one residue
/// class of workers modulo d is intact, and its windows cover each partition once: ends at the first
/// intact class, 0/1 weights. O(1) an answer.
GradientCode residue_class_code(int n, int s);

}  // namespace quorate
