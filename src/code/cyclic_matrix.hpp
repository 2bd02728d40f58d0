// SPDX-License-Identifier: BSD-2-Clause
// Matrices B of cyclic codes, with what decoding them needs.
#pragma once

#include <cstdint>
#include <vector>

#include "code/null_space_decoder.hpp"

namespace quorate {

/// Coefficients of the partitions i, i+1, ... (mod n), ascending by partition.
Row cyclic_row(const std::vector<double>& coefficients, int n, int i);

/// Deterministic real MDS code, cyclic if n - s is odd and negacyclic if it is even.
///
/// The generator polynomial g has as roots the s n-th roots of 1 (of -1, negacyclic) nearest to -1;
/// row i of B0 is x^i g(x) modulo x^n - 1 (x^n + 1). Any n - s rows span a code that contains the
/// all-ones word (negacyclic: v_j = sin(pi (j + 1/2) / n), by which column j is divided).
/// O(n s^2). @param s  0..n-1
/// Source: Raviv, Tamo, Tandon, Dimakis, "Gradient Coding from Cyclic MDS Codes and Expander
/// Graphs", arXiv 1707.03858; the negacyclic case is ours.
LinearCode mds_code(int n, int s);

/// The original construction with random coefficients: the best of 32 draws by the largest decoding
/// weight over sampled patterns. O(32 n^3).
/// Source: Tandon, Lei, Dimakis, Karampatziakis, "Gradient Coding", ICML 2017, Algorithm 2.
struct RandomCode {
    LinearCode code;
    double largest_weight;  // over the sampled patterns: 1e5 or more loses too many digits
};
RandomCode random_cyclic_code(int n, int s, std::uint64_t seed);

}  // namespace quorate
