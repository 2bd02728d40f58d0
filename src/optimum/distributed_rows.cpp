// SPDX-License-Identifier: BSD-2-Clause
#include "optimum/distributed_rows.hpp"

#include "code/partition.hpp"

namespace quorate {

namespace {

petsc::Matrix sparse(MPI_Comm comm, RawRows& raw, PetscInt rows, PetscInt all_rows,
                     PetscInt columns)
{
    std::vector<PetscInt> start(raw.start.begin(), raw.start.end());
    if (raw.value.empty()) raw.value.assign(raw.column.size(), 1.0);
    petsc::Matrix matrix;
    petsc::check(
        MatCreateMPIAIJWithArrays(comm, rows, PETSC_DECIDE, all_rows, columns, start.data(),
                                  raw.column.data(), raw.value.data(), matrix.made()),
        "MatCreateMPIAIJWithArrays");
    return matrix;
}

petsc::Matrix dense(MPI_Comm comm, RawRows& raw, PetscInt rows, PetscInt all_rows, PetscInt columns)
{
    petsc::Matrix matrix;
    petsc::check(
        MatCreateDense(comm, rows, PETSC_DECIDE, all_rows, columns, nullptr, matrix.made()),
        "MatCreateDense");
    PetscScalar* values = nullptr;
    petsc::check(MatDenseGetArrayWrite(matrix.get(), &values), "MatDenseGetArrayWrite");
    const auto m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns);
    for (std::size_t i = 0; i < m; ++i)  // PETSc stores dense matrices by column
        for (std::size_t j = 0; j < n; ++j) values[i + j * m] = raw.dense[i * n + j];
    petsc::check(MatDenseRestoreArrayWrite(matrix.get(), &values), "MatDenseRestoreArrayWrite");
    petsc::check(MatAssemblyBegin(matrix.get(), MAT_FINAL_ASSEMBLY), "MatAssemblyBegin");
    petsc::check(MatAssemblyEnd(matrix.get(), MAT_FINAL_ASSEMBLY), "MatAssemblyEnd");
    return matrix;
}

}  // namespace

DistributedRows::DistributedRows(MPI_Comm comm, const DataSet& data)
    : comm_(comm), rows_(data.rows(Split::train))
{
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const auto [first, count] = partition(rows_, size, rank);
    auto raw = data.read(Split::train, first, count);
    labels_ = std::move(raw.label);
    matrix_ = (data.dense() ? dense : sparse)(comm, raw, static_cast<PetscInt>(count),
                                              static_cast<PetscInt>(rows_),
                                              static_cast<PetscInt>(data.columns()));
}

}  // namespace quorate
