// SPDX-License-Identifier: BSD-2-Clause
// Short messages whose coefficients follow from who has computed what. Gradients are cut into l
// pieces. A worker sends, of what it has, one combination of pieces with coefficients that it is
// told; fixed combinations R of the messages are then the pieces of the sum. Which coefficients do
// so is a system for each gradient by itself, of those workers that have it.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "base/lru_cache.hpp"
#include "code/storage_code.hpp"

namespace quorate {

/// The matrix R, l x n: rows of a real Fourier matrix in golden order, so that neighbouring workers
/// have columns far apart. Local; not safe for several threads, because it remembers combinations.
class PieceCode {
public:
    /// @param pieces  l, 1 to the number of workers
    PieceCode(int workers, int pieces)
        : matrix_(Generator::fourier, workers, pieces, 0), pieces_(pieces)
    {
    }

    int pieces() const { return pieces_; }
    /// R: the weight of a worker's message in a piece of the sum.
    double weight(int piece, int worker) const { return matrix_.coefficient(worker, piece); }

    /// What workers send of a gradient that they have.
    struct Combination {
        Eigen::MatrixXd coefficients;  // A: of worker holders[m] and piece u (m, u)
        Eigen::MatrixXd decoded;       // R A, l x l: the unit matrix if there are l workers or more
    };
    /// Returns the A for which R A comes nearest to the unit matrix, the least of these.
    /// Remembered; O(h l^2) the first time.
    /// @param holders  the h workers that have the gradient, ascending, at least one
    const Combination& combination(const std::vector<int>& holders);

private:
    StorageCode matrix_;
    int pieces_;
    LruCache<std::vector<int>, Combination> known_{4096};
};

}  // namespace quorate
