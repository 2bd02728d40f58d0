// SPDX-License-Identifier: BSD-2-Clause
// When a round can end, for schemes where that depends only on who has answered: what their
// expected time follows from.
#pragma once

#include <vector>

namespace quorate {

/// For each number of missing workers, 0 to n: the probability that a round cannot end yet if that
/// many workers, chosen at random, are missing. Empty: it is not known.
using Blocked = std::vector<double>;

/// Of a round that ends with any r of n answers.
Blocked until_answers(int n, int r);
/// Of a round that ends when each group of fractional repetition with d copies has answered once.
/// O(n^2). Empty for more than 1,000 workers.
Blocked until_groups(int n, int d);
/// Of a round that ends with either.
Blocked until_groups_or_answers(int n, int d, int r);

}  // namespace quorate
