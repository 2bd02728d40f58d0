// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "code/gradient_code.hpp"

namespace quorate {

/// The points alpha_i at which the code evaluates, i = 0..n-1.
std::vector<std::complex<long double>> reed_solomon_points(int n);

/// Reed-Solomon gradient code: any number k of partitions, any s stragglers, decoding weights in
/// closed form. Coefficients are complex, so each worker sends two parts, the real and the
/// imaginary part of its sum, and computes twice as long.
///
/// Points alpha_i = e^(2 pi i sqrt(-1) / n); partition j is on d = s + 1 workers from floor(j n /
/// k) on; B_ij = t_j(alpha_i) with t_j(x) = prod over the workers l without j of (x - alpha_l) /
/// (-alpha_l), so that t_j(0) = 1. From any n - s workers S, a_i = prod over l in S, l != i of
/// (-alpha_l) / (alpha_i - alpha_l). O(n k (n - s)) to build, O((n - s)^2 + k d) to decode.
/// Source: Halbawi, Azizan, Salehi, Hassibi, "Improving Distributed Gradient Descent Using
/// Reed-Solomon Codes", ISIT 2018, arXiv 1706.05436.
GradientCode reed_solomon_code(int n, int k, int s);

/// The decoding of such a code from these workers. O(|S|^2 + k d).
/// @param workers  S, ascending, n - s or more
/// @return nullopt if it misses ||B^T a - 1||_2 <= 1e-9 max(1, ||a||_inf)
std::optional<Decoding> reed_solomon_decoding(const Encoding& encoding,
                                              const std::vector<int>& workers);

}  // namespace quorate
