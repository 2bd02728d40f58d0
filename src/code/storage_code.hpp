// SPDX-License-Identifier: BSD-2-Clause
// Coded storage. The data are cut into L blocks of rows X_1 ... X_L, and machine k stores the one
// block sum_i G_ki X_i. From what any L machines compute of their blocks by linear operations one
// gets what all blocks would have given. Yang et al., "Coded Elastic Computing", arXiv 1812.06411,
// 2018.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "code/generator.hpp"

namespace quorate {

/// The matrix G of P machines and L blocks. Local; not safe for several threads, because it
/// remembers decodings.
class StorageCode {
public:
    /// @param machines, blocks  P and L, L <= P
    /// @param seed              of the random ones
    StorageCode(Generator generator, int machines, int blocks, std::uint64_t seed);

    int machines() const { return static_cast<int>(g_.rows()); }
    int blocks() const { return static_cast<int>(g_.cols()); }
    double coefficient(int machine, int block) const { return g_(machine, block); }

    /// The inverse of L rows of G, by LU with partial pivoting, and its condition number in the
    /// 1-norm. Remembered; O(L^3) the first time.
    struct Decoding {
        Eigen::MatrixXd inverse;  // block i from the answer of machines[m]: inverse(i, m)
        double condition;
    };
    /// @param machines  L of them, ascending
    const Decoding& decoding(const std::vector<int>& machines) const;

    /// Returns how L machines do the work of another one: the c with
    /// sum_m c_m G[machines[m]] = G[target].
    std::vector<double> substitution(int target, const std::vector<int>& machines) const;

    /// Returns the largest condition number of L neighbouring machines, over all numbers of
    /// machines from L to P.
    double worst_window() const;

private:
    Eigen::MatrixXd g_;
    mutable std::map<std::vector<int>, Decoding> decodings_;
};

/// Decodings with a larger condition number lose too many digits.
inline constexpr double worst_condition = 1e8;

}  // namespace quorate
