// SPDX-License-Identifier: BSD-2-Clause
// Coded matrix-vector products: A x from any K of P workers. With an MDS code (StorageCode) each worker
// stores a combination of row blocks of A; with Short-Dot each computes one short dot product, of a row with
// zeros, so that it needs a part of x only.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

namespace quorate {

/// Dutta, Cadambe, Grover, "Short-Dot: Computing Large Linear Transforms Distributedly Using Coded Short Dot
/// Products", NIPS 2016; IEEE Trans. IT 2019.
class ShortDot {
public:
    /// @param a        M x N  @param workers  P  @param needed  K, M <= K <= P: answers that suffice
    ShortDot(const Eigen::MatrixXd& a, int workers, int needed, std::uint64_t seed);

    /// Row `worker` is what that worker multiplies with x. Each column has K - M zeros, on neighbouring
    /// workers, so that a worker's row has N (P - K + M) / P entries, to within one.
    const Eigen::MatrixXd& rows() const { return f_; }

    /// A x. O(K^3).
    /// @param answered  K workers  @param answers  of each, its row times x
    Eigen::VectorXd decode(std::span<const int> answered, const Eigen::VectorXd& answers) const;

private:
    Eigen::Index m_;
    Eigen::MatrixXd g_, f_;  // P x K, P x N
};

/// Mean time of a product by an (n, k) MDS code, where a k-th of the work takes (1 + an exponential time of
/// rate mu) / k. Lee et al., "Speeding Up Distributed Machine Learning Using Codes", IEEE Trans. IT 2018.
double mds_product_time(int workers, int needed, double mu);

/// The share k / n at which that is least for many workers: 1 + 1 / W_-1(-exp(-mu - 1)).
double best_mds_share(double mu);

/// A machine that takes a l + an exponential time of mean l / mu for l rows.
struct MachineSpeed {
    double a, mu;
};

/// Coded rows for each machine so that r of all of them are there soonest on average.
/// Reisizadeh et al., "Coded Computation over Heterogeneous Clusters", IEEE Trans. IT 2019.
std::vector<double> heterogeneous_loads(std::span<const MachineSpeed> machines, double rows);

}  // namespace quorate
