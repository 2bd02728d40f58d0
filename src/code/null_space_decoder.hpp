// SPDX-License-Identifier: BSD-2-Clause
// Decodes any code with rank(B) = n - s on demand: it solves one small system for a pattern of
// stragglers, and needs no table of all patterns.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "base/lru_cache.hpp"
#include "code/gradient_code.hpp"

namespace quorate {

/// B with what decoding needs of it, computed once.
struct LinearCode {
    Encoding encoding;            // n x k, one part a worker
    Eigen::MatrixXd null_space;   // N_0: n x s, orthonormal columns with B^T N_0 = 0
    Eigen::VectorXd all_weights;  // a_0: n, min-norm solution of B^T a = 1
};

/// Decoding weights when the workers K do not answer, |K| <= s: the a with a[K] = 0 and B^T a = 1
/// that is nearest to a_0:
///     c = argmin ||c|| subject to N_0[K,:] c = -a_0[K];  a = a_0 + N_0 c
/// Fewer than s stragglers make it under-determined, and the min-norm answer more accurate.
/// O(s^3 + n s).
/// @param missing  K, ascending
Eigen::VectorXd decoding_weights(const LinearCode& code, const std::vector<int>& missing);

/// B as a dense matrix, of codes with one part a worker.
Eigen::MatrixXd dense(const Encoding& encoding);

/// ||B^T a - 1||_inf.
double residual(const Encoding& encoding, const Eigen::VectorXd& weights);

/// Ends a round at the first answer, from the `needed`-th on, whose decoding passes the residual
/// test ||B^T a - 1||_inf <= min(1e-6, 1e-9 max(1, ||a||_inf)). Keeps the last 4096 patterns.
class NullSpaceDecoder final : public Decoder {
public:
    /// @param needed  answers without which it does not try: n - s
    NullSpaceDecoder(LinearCode code, int needed);

    void begin() override;
    const Decoding* receive(int worker) override;
    bool exact() const override { return true; }

private:
    std::optional<Decoding> decode(const std::vector<int>& missing) const;

    LinearCode code_;
    int needed_, answers_ = 0;
    std::vector<bool> received_;
    LruCache<std::vector<int>, std::optional<Decoding>> cache_{4096};
};

/// Returns that code with this decoder.
GradientCode decoded_on_demand(LinearCode code, int needed, std::string warning = {});

/// Returns a code with any matrix B, one part a worker, whose rounds end at the first answers that
/// give the exact gradient. O(n^2 k), dense.
/// @throws BadInput if all answers together do not give it
GradientCode exact_code(Encoding encoding);

}  // namespace quorate
