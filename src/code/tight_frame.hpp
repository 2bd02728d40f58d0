// SPDX-License-Identifier: BSD-2-Clause
// Tight frames that encode data before a run, so that stragglers can be ignored in each round:
// N x n matrices S with S^T S = (N / n) I. The mean square of S (X w - y) is then that of X w - y,
// and nearly so is that of most of its rows. Karakus, Sun, Diggavi, Yin, "Straggler Mitigation in
// Distributed Optimization Through Data Encoding", NIPS 2017. Local and pure.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace quorate {

/// A tight frame whose rows are in random order.
class TightFrame {
public:
    virtual ~TightFrame() = default;
    /// N, the length of what is encoded.
    virtual std::int64_t rows() const = 0;
    /// Encodes one column: S x. O(N log N).
    /// @param column   n numbers
    /// @param encoded  receives N
    virtual void encode(std::span<const double> column, std::span<double> encoded) const = 0;
};

/// Random columns of a Hadamard matrix. N is the least power of two that is at least n times the
/// redundancy.
std::unique_ptr<TightFrame> hadamard_frame(std::int64_t n, double redundancy, std::uint64_t seed);

/// Random columns of an equiangular tight frame: that of Steiner systems of pairs (Fickus, Mixon,
/// Tremain, arXiv 1009.5730) of v points, with v the least power of two for which there are n
/// pairs. N = v^2: about 2 n at least, and up to 8 n. With n = v (v - 1) / 2 its rows are
/// equiangular.
std::unique_ptr<TightFrame> steiner_frame(std::int64_t n, std::uint64_t seed);

}  // namespace quorate
