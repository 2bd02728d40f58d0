// SPDX-License-Identifier: BSD-2-Clause
// Decoders that take the first r answers, whichever workers they come from.
#pragma once

#include <functional>

#include "code/gradient_code.hpp"

namespace quorate {

/// Returns weights and scale for the workers that have answered. CollectDecoder fills in the error.
/// @param received  workers whose answers came, ascending, at least one
using Weigh = std::function<Decoding(const std::vector<int>& received)>;

/// Ends a round at the r-th answer, or when time is up with what has come.
class CollectDecoder : public Decoder {
public:
    /// @param collect  r
    CollectDecoder(Encoding encoding, int collect, Weigh weigh)
        : encoding_(std::move(encoding)), weigh_(std::move(weigh)), collect_(collect)
    {
    }

    void begin() override { received_.clear(); }
    const Decoding* receive(int worker) override;
    const Decoding* expire() override;

    int collect() const { return collect_; }
    /// Sets r from the next answer on.
    void collect(int r) { collect_ = r; }

private:
    Encoding encoding_;
    Weigh weigh_;
    int collect_;
    std::vector<int> received_;
    Decoding decoding_;
};

/// Returns that code with this decoder.
GradientCode collecting(Encoding encoding, int collect, Weigh weigh);

/// a_i = k / (r d), d the mean sum of a worker's coefficients: the plain sum, scaled. O(r).
Weigh one_step(const Encoding& encoding);

/// Least squares: the min-norm a that minimises ||B_S^T a - 1||. It shrinks the estimate.
/// Dense and rank-revealing up to 400 workers, O(r^2 k); above, conjugate gradients on the sparse
/// matrix, from zero, to 1e-12 of the normal equations.
Weigh least_squares(const Encoding& encoding);

/// For designs of which any two workers share one partition: least squares has the constant
/// solution a = d / (d + r - 1). O(r).
Weigh design_weights(int d);

/// Least squares for graph codes in linear time. In each connected part of the graph of the answers
/// received: every vertex gets 1 if the part has an odd cycle; else the sides of sizes L and R get
/// 1 + (R - L) / (L + R) and 1 - (R - L) / (L + R). O(n).
/// @param encoding  two partitions a worker, coefficients 1
Weigh graph_weights(const Encoding& encoding);

/// Another decoder's weights, scaled so that the mean of B^T a is one.
Weigh debiased(const Encoding& encoding, Weigh weigh);

/// Gives all answers the weight 1, and the scale n / r, or 1 / (1 - p) for workers that straggle
/// independently with probability p. Unbiased. O(r).
Weigh plain_sum(int n);
Weigh plain_sum_of_probability(double p);

/// Weights 1 / pi_i, where pi_i is the share of rounds in which worker i has answered in time, at
/// least `least`. Unbiased although some workers are often late. It counts the rounds as it is
/// called.
Weigh horvitz_thompson(int n, int collect, double least);

/// A largest set of answers with pairwise disjoint partitions, 0/1 weights, scale n / recovered.
/// Cyclic windows of c partitions: greedy from every start, O(r^2). Which set depends on worker
/// numbers alone. Source: Su, Sukhnandan, Li, "On Arbitrary Ignorance of Stragglers with Gradient
/// Coding", ICDCS 2023.
Weigh disjoint_windows(int n, int c);

}  // namespace quorate
