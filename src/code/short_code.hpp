// SPDX-License-Identifier: BSD-2-Clause
// Communication-efficient gradient codes (Ye, Abbe, ICML 2018, arXiv 1802.03475): each of n workers
// holds d = s + m of the n partitions and sends one vector of q = ceil(p / m) elements; any n - s
// of them give the gradient.
//
// The gradient g_j of a partition is cut into m pieces G_j[u] of q elements. Worker i sends
//   f_i = sum over its partitions j and the pieces u of B[j,u,i] G_j[u],
// and piece u of the whole gradient is the sum over those who answer of A[i,u] f_i.
// d >= s + m is necessary: of the d holders of a partition d - s answer, with p / m elements each.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <vector>

namespace quorate {

/// What makes a code: V in R^((n-s) x n) with V V^T = n I, as far as it matters.
struct ShortCodeBasis {
    Eigen::MatrixXd last;        // the last m rows of V
    Eigen::MatrixXd complement;  // W^T, n x s: an orthonormal basis of the complement of V's rows
};

/// A code for n workers, s stragglers and m pieces. Worker i holds the partitions i, i + 1, ...,
/// i + d - 1 modulo n. With V in R^((n-s) x n), V V^T = n I, and W in
/// R^(s x n) an orthonormal basis of the complement of its rows:
///   B[j,:,:] is the basis of the rows of V that vanish off the holders of j, scaled so that its
///   coordinates in the last m rows of V are I: B[j,:,i] = E_j V[:,i] with E_j = [X_j, I];
///   A, with A = 0 where nobody answers, is the shortest solution of V A = [0; I], for then
///   sum_i A[i,u] B[j,u',i] = (u = u').
class ShortCode {
public:
    /// O(n d^3 + n^2 m).
    explicit ShortCode(ShortCodeBasis basis);

    int workers() const { return static_cast<int>(last_.cols()); }
    int stragglers() const { return static_cast<int>(w_.cols()); }
    int pieces() const { return static_cast<int>(last_.rows()); }
    int load() const { return stragglers() + pieces(); }  // d
    /// B[j,u,i].
    double coefficient(int partition, int piece, int worker) const
    {
        return b_[partition](piece, worker);
    }
    /// Returns A, n x m. O(m s^3 + n s m).
    /// @param missing  workers that do not answer, at most s
    Eigen::MatrixXd weights(const std::vector<int>& missing) const;
    /// The largest deviation of sum_i A[i,u] B[j,u',i] from (u = u'). O(n d m^2).
    double residual(const Eigen::MatrixXd& weights) const;
    /// The sum of their squares: the decode error. O(n d m^2).
    double error(const Eigen::MatrixXd& weights) const;
    /// The largest |A[i,u] B[j,u',i]|, by which decoding amplifies rounding errors. Over all sets
    /// of s that are missing if there are 1,000 at most, else over all runs of neighbours and 30
    /// random sets.
    double amplification(std::uint64_t seed) const;

private:
    // Calls f(deviation) for all j, u, u'.
    template <class F>
    void deviations(const Eigen::MatrixXd& weights, F f) const;

    Eigen::MatrixXd last_, w_;        // the last rows of V, m x n; W^T, n x s
    std::vector<Eigen::MatrixXd> b_;  // by partition, m x n
};

/// Returns V of sines and cosines: rows of frequency f are sqrt 2 cos(2 pi f i / n), sqrt 2 sin(2
/// pi f i / n), or 1 for f = 0, with f whole if n - s is odd and half-integral if it is even; the m
/// rows of lowest frequency come last. None if n - s is even and m is odd.
std::optional<ShortCodeBasis> fourier_basis(int n, int s, int m);

/// Returns V whose rows span a random subspace of uniform distribution. O(n d^2).
/// @param draw  its number, for the stream of random numbers
ShortCodeBasis haar_basis(int n, int s, int m, std::uint64_t seed, std::uint32_t draw);

/// Returns of the Fourier code and 16 random ones that of the least amplification, with that. O(16
/// n^2 d m).
std::pair<ShortCode, double> best_short_code(int n, int s, int m, std::uint64_t seed);

}  // namespace quorate
