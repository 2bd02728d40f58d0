// SPDX-License-Identifier: BSD-2-Clause
// Runs with the rows of a PETSc matrix, distributed or not, and the labels of a vector.
//
//   #include <quorate/petsc.hpp>
//
//   auto trace = quorate::run(rows, labels, {{"scheme", "agc"}, {"stragglers", "2"}});
//
// The program is compiled and linked with the PETSc that Quorate was built with: real numbers in
// double precision, and the same width of indices.
#pragma once

#include <petscmat.h>
#include <petscvec.h>

#include <optional>

#include "quorate/quorate.hpp"

namespace quorate {

inline namespace QUORATE_ABI {

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
#error Quorate computes with real numbers in double precision: use a PETSc of these
#endif
static_assert(sizeof(PetscInt) == sizeof(Index),
              "this PETSc has another width of indices than Quorate's: see `quorate --version`");
static_assert(PETSC_VERSION_MAJOR == QUORATE_PETSC_MAJOR &&
                  PETSC_VERSION_MINOR == QUORATE_PETSC_MINOR,
              "this PETSc is of another version than Quorate's: see `quorate --version`");

/// Makes a data set of a matrix with a row for each label. Collective over the matrix's
/// communicator. Rows are in the order of the matrix, so results do not depend on who holds them.
///
/// Each host gets one file with all rows, in its folder for temporary files (TMPDIR): the rows
/// travel in broadcasts of about a megabyte, so each rank receives all of them once and keeps none,
/// but all labels (8 bytes each). A run then reads from the file what each worker works on.
/// @param rows    of type aij or dense, assembled. Sparse rows keep zeros that they store
/// @param labels  as those of LabelledRows, distributed like the rows
/// @param test_rows, test_labels  more rows of the same kind and as many columns; null: none
/// @throws BadInput on all ranks if sizes or distributions contradict each other, a matrix is of
///         another type or not assembled, a number is not finite, or labels do not fit the task
/// @throws Failure on all ranks if a file cannot be written
Data data_of(Mat rows, Vec labels, Mat test_rows = nullptr, Vec test_labels = nullptr,
             const DataOptions& options = {});

/// As run(data_of(rows, labels), options). Collective over MPI_COMM_WORLD, over which the matrix is
/// distributed, whoever becomes a worker: rank 0, the coordinator, may hold rows, too.
/// @throws BadInput, Failure  as these
std::optional<Trace> run(Mat rows, Vec labels, const Options& options,
                         const Components& components = {});

/// As simulate(data_of(rows, labels), options). Collective over the matrix's communicator; each
/// rank simulates the whole run and returns the same trace.
/// @throws BadInput, Failure  as these
Trace simulate(Mat rows, Vec labels, const Options& options, const Components& components = {});

}  // namespace QUORATE_ABI

}  // namespace quorate
