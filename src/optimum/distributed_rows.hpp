// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mpi.h>

#include <vector>

#include "data/data_set.hpp"
#include "data/petsc.hpp"

namespace quorate {

/// The training rows as one matrix over all ranks: MPIAIJ, or MPIDENSE if the data are dense. Each rank
/// reads and holds its share of the rows, equal to within one.
class DistributedRows {
public:
    /// Collective. @throws BadInput if a share is too large for this build's indices
    DistributedRows(MPI_Comm comm, const DataSet& data);

    MPI_Comm comm() const { return comm_; }
    Mat matrix() const { return matrix_.get(); }
    std::int64_t rows() const { return rows_; }
    /// Of the rows that this rank holds.
    const std::vector<double>& labels() const { return labels_; }

private:
    MPI_Comm comm_;
    std::int64_t rows_;
    std::vector<double> labels_;
    petsc::Matrix matrix_;
};

}  // namespace quorate
