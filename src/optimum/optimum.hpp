// SPDX-License-Identifier: BSD-2-Clause
// A reference optimum of a linear model's objective, by PETSc TAO on all ranks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "optimizer/regularizer.hpp"
#include "optimum/distributed_rows.hpp"

namespace quorate {

struct OptimumOptions {
    double tolerance =
        1e-9;  // of the gradient's norm; of the duality gap where there is no gradient
    std::int64_t iterations = 10000;
    /// After each iteration, on rank 0: its number, the objective (of the dual: its negative), the norm
    /// of the gradient that the solver sees.
    std::function<void(std::int64_t, double, double)> progress = {};
};

struct Optimum {
    std::vector<double> model;  // w*, on rank 0
    double objective = 0;       // f(w*)
    double bound = 0;           // a number that f is nowhere below, by duality or strong convexity
    double gradient_norm =
        0;  // of f at w*; L1: of the least subgradient; NaN if f has none (hinge)
    std::int64_t iterations = 0;
    std::string solver;    // of TAO
    bool reached = false;  // whether the tolerance was
};

/// @throws BadInput for a network, for hinge without L2 or with L1
void check_solvable(const Model& model, const std::string& name, const Regularizer& regularizer);

/// Smooth models: LMVM. With L1: BLMVM on the positive and the negative part of w. hinge: BLMVM on the
/// dual, whose variables lie between 0 and 1.
/// Collective. Two products with the matrix for each output an evaluation.
/// @throws BadInput as check_solvable
Optimum find_optimum(const DistributedRows& rows, const Model& model, const std::string& name,
                     const Regularizer& regularizer, const OptimumOptions& options);

}  // namespace quorate
