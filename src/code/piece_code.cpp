// SPDX-License-Identifier: BSD-2-Clause
#include "code/piece_code.hpp"

#include "code/linear_algebra.hpp"

namespace quorate {

const PieceCode::Combination& PieceCode::combination(const std::vector<int>& holders)
{
    if (const auto* known = known_.find(holders)) return *known;
    Eigen::MatrixXd r(pieces_, static_cast<int>(holders.size()));
    for (int m = 0; m < r.cols(); ++m)
        for (int u = 0; u < pieces_; ++u) r(u, m) = weight(u, holders[m]);
    Combination made{Eigen::MatrixXd(r.cols(), pieces_), {}};
    for (int u = 0; u < pieces_; ++u)
        made.coefficients.col(u) = shortest_solution(r, Eigen::VectorXd::Unit(pieces_, u));
    made.decoded = r * made.coefficients;
    return *known_.insert(holders, std::move(made));
}

}  // namespace quorate
