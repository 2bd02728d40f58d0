// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mpi.h>

#include <vector>

#include "data/data_set.hpp"
#include "data/petsc.hpp"

namespace quorate {

/// The training rows as one PETSc matrix over all ranks: MPIAIJ, or dense if the data are dense.
/// Each rank reads and holds its share of the rows; shares are equal to within one row.
class DistributedRows {
public:
    /// Reads the rows. Collective on `comm`, which must outlive this object.
    /// @throws BadInput if a share has more entries than this build's indices can count, or as
    ///         DataSet::read()  @throws Failure if PETSc or HDF5 fails
    DistributedRows(MPI_Comm comm, const DataSet& data);

    MPI_Comm comm() const { return comm_; }
    Mat matrix() const { return matrix_.get(); }
    /// Rows of all ranks.
    std::int64_t rows() const { return rows_; }
    /// Labels of the rows that this rank holds.
    const std::vector<double>& labels() const { return labels_; }

private:
    MPI_Comm comm_;
    std::int64_t rows_;
    std::vector<double> labels_;
    petsc::Matrix matrix_;
};

}  // namespace quorate
