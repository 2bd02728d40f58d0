// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <complex>
#include <optional>
#include <vector>

namespace quorate {

/// Which workers of a Reed-Solomon gradient code (reed_solomon_code) do not send the sum of their
/// rows.
///
/// Honest messages m_i, i = 0..n-1, projected on any vector, are values of a polynomial of degree
/// below n - s at alpha_i = e^(2 pi i sqrt(-1) / n). With M the workers without an answer, and
/// v_i = alpha_i prod over m in M of (alpha_i - alpha_m), the sums
///     T_k = sum over the others of v_i alpha_i^k y_i
/// therefore vanish for k = 0..s-1-|M|; the null vector of their Hankel matrix is a polynomial
/// whose roots are the Byzantine workers. A message that is not finite is Byzantine anyway. O(n s +
/// L^3). Source: Chen, Wang, Charles, Papailiopoulos, "DRACO", ICML 2018, with erasures besides
/// errors.
///
/// @param n      workers
/// @param s      answers that the code can lose; s - |M| is at least 2 `most`
/// @param received  the workers whose messages came, ascending
/// @param y      projections of their messages on one random vector
/// @param most   L, how many messages may be wrong
/// @return the workers to leave out, ascending, L at most; nullopt: more than L messages are wrong
std::optional<std::vector<int>> locate_byzantine(int n, int s, const std::vector<int>& received,
                                                 const std::vector<std::complex<double>>& y,
                                                 int most);

}  // namespace quorate
