// SPDX-License-Identifier: BSD-2-Clause
// Cyclic codes: worker i holds the partitions i, i+1, ..., i+d-1 (mod n); any s = d - 1 workers may
// be missing, whether or not d divides n.
#pragma once

#include "code/gradient_code.hpp"

namespace quorate {

/// The deterministic code with its decoder: d = s + 1 partitions a worker, or s + 2 where a
/// negacyclic code would lose too many digits (n - s even, and s > n/4 or s > 6: measured at n =
/// 100, s = 8, decoding weights reach 1e7 and the error 1e-9; with one more partition and the
/// cyclic code for s + 1 stragglers both are a hundred times less).
GradientCode cyclic_code(int n, int s);

/// Worker i holds c partitions i, ..., i+c-1 (mod n), coefficients 1.
Encoding cyclic_windows(int n, int c);

/// All coefficients one; needs d = s + 1 dividing n. Whatever s workers are missing, one residue
/// class of workers modulo d is intact, and its windows cover each partition once: ends at the
/// first intact class, 0/1 weights. O(1) an answer.
GradientCode residue_class_code(int n, int s);

}  // namespace quorate
