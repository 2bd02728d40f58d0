// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "data/petsc.hpp"

namespace quorate {

/// How an optimum is found.
struct OptimumOptions {
    double tolerance = 1e-9;          // of the gradient's norm; of hinge, of the duality gap
    std::int64_t iterations = 10000;  // at most
    /// Called on rank 0 after each iteration with its number, the objective (of hinge, the negative
    /// of the dual's times the rows), and the norm of the gradient that the solver sees.
    std::function<void(std::int64_t, double, double)> progress = {};
};

/// A function to minimise, and how.
struct Minimisation {
    const char* solver;                                   // of TAO; BLMVM has bounds
    std::function<double(Vec x, Vec gradient)> function;  // returns f(x); fills in the gradient
    double highest = std::numeric_limits<double>::infinity();  // bound of variables, from 0
    std::function<bool()> enough = {};                         // ends the iterations early
};

/// Makes a vector of the shape of another, without values.
petsc::Vector like(Vec vector);

/// Minimises a function by TAO. Collective on `comm`.
/// @param x  where to start; receives the solution
/// @return the number of iterations
/// @throws Failure if PETSc fails, and what the function throws
std::int64_t minimise(MPI_Comm comm, const Minimisation& problem, Vec x,
                      const OptimumOptions& options);

}  // namespace quorate
