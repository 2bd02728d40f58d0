// SPDX-License-Identifier: BSD-2-Clause
// Fractional repetition: n workers in G = n/d groups; every worker of group q holds the d partitions
// qd .. qd+d-1 and sends their plain sum. Tandon et al., "Gradient Coding", ICML 2017.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace quorate {

/// Rows [first, first + count).
using RowRange = std::pair<std::int64_t, std::int64_t>;

/// Partition j of k: sizes differ by at most one row and no row is dropped.
RowRange partition(std::int64_t rows, int k, int j);

class FractionalRepetition {
public:
    /// @param n  workers = partitions; d must divide it
    /// @param d  replication, stragglers tolerated + 1
    FractionalRepetition(int n, int d) : n_(n), d_(d) {}

    int groups() const { return n_ / d_; }
    /// Groups are runs of worker numbers.
    int group(int worker) const { return worker / d_; }
    /// The d partitions that each worker of a group holds, ascending.
    std::vector<int> partitions(int group) const;

    /// ||B^T a - 1||^2 when `heard` groups are decoded with weight `a` each: d (a-1)^2 for each of
    /// them and d for each of the others.
    double error(int heard, double a) const;

private:
    int n_, d_;
};

}  // namespace quorate
