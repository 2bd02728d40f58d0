// SPDX-License-Identifier: BSD-2-Clause
// Finds a reference optimum of a linear model's objective, by PETSc TAO on all ranks.
#pragma once

#include <string>
#include <vector>

#include "model/model.hpp"
#include "optimizer/regularizer.hpp"
#include "optimum/distributed_rows.hpp"
#include "optimum/minimise.hpp"

namespace quorate {

/// An optimum as it was found.
struct Optimum {
    std::vector<double> model;  // w*, on rank 0; elsewhere empty
    double objective = 0;       // f(w*)
    double bound = 0;           // f is nowhere below it; without L2 -infinity
    double gradient_norm = 0;   // of f at w*; with L1 of the least subgradient; NaN for hinge
    std::int64_t iterations = 0, evaluations = 0;  // of the objective with its gradient
    std::string solver;                            // of TAO
    bool reached = false;                          // whether the tolerance was reached
};

/// Checks that find_optimum() can solve for the model.
/// @param name  of the model, as --model has it
/// @throws BadInput for a network, and for hinge without L2 or with L1
void check_solvable(const Model& model, const std::string& name, const Regularizer& regularizer);

/// Finds the optimum. Smooth models use LMVM; with L1, BLMVM on the positive and the negative part
/// of w; hinge, BLMVM on the dual, whose variables lie between 0 and 1. Collective on rows.comm().
/// An evaluation of the objective costs two products with the matrix for each output.
/// @param name  of the model, as --model has it
/// @throws BadInput as check_solvable()  @throws Failure if PETSc fails
Optimum find_optimum(const DistributedRows& rows, const Model& model, const std::string& name,
                     const Regularizer& regularizer, const OptimumOptions& options);

}  // namespace quorate
