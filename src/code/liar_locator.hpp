// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <complex>
#include <optional>
#include <vector>

namespace quorate {

/// Who of a Reed-Solomon gradient code (reed_solomon_code) does not send its rows' sum.
///
/// Honest messages m_i, i = 0..n-1, projected on any vector, are values of a polynomial of degree
/// below n - s at alpha_i = e^(2 pi i sqrt(-1) / n). With M those not heard, and
/// v_i = alpha_i prod over m in M of (alpha_i - alpha_m), the sums
///     T_k = sum over the heard of v_i alpha_i^k y_i
/// therefore vanish for k = 0..s-1-|M|; the null vector of their Hankel matrix is a polynomial whose
/// roots are the liars. Who sends what is not finite is a liar anyway. O(n s + L^3).
/// Source: Chen, Wang, Charles, Papailiopoulos, "DRACO", ICML 2018, with erasures besides errors.
///
/// @param n      workers
/// @param s      answers that the code can lose; s - |M| is at least 2 `liars`
/// @param heard  ascending
/// @param y      projections of their messages on one random vector
/// @param liars  L, how many may lie
/// @return those to leave out, ascending, L at most; nullopt: more than L lie
std::optional<std::vector<int>> locate_liars(int n, int s, const std::vector<int>& heard,
                                             const std::vector<std::complex<double>>& y, int liars);

}  // namespace quorate
