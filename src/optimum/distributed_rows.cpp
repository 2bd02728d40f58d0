// SPDX-License-Identifier: BSD-2-Clause
#include "optimum/distributed_rows.hpp"

#include "code/partition.hpp"

namespace quorate {

namespace {

Mat sparse(MPI_Comm comm, RawRows& raw, PetscInt rows, PetscInt all_rows, PetscInt columns)
{
    std::vector<PetscInt> start(raw.start.begin(), raw.start.end());
    if (raw.value.empty()) raw.value.assign(raw.column.size(), 1.0);
    Mat matrix = nullptr;
    petsc::check(
        MatCreateMPIAIJWithArrays(comm, rows, PETSC_DECIDE, all_rows, columns, start.data(),
                                  raw.column.data(), raw.value.data(), &matrix),
        "MatCreateMPIAIJWithArrays");
    return matrix;
}

Mat dense(MPI_Comm comm, const RawRows& raw, PetscInt rows, PetscInt all_rows, PetscInt columns)
{
    Mat matrix = nullptr;
    petsc::check(MatCreateDense(comm, rows, PETSC_DECIDE, all_rows, columns, nullptr, &matrix),
                 "MatCreateDense");
    PetscScalar* values = nullptr;
    petsc::check(MatDenseGetArrayWrite(matrix, &values), "MatDenseGetArrayWrite");
    const auto m = static_cast<std::size_t>(rows), n = static_cast<std::size_t>(columns);
    for (std::size_t i = 0; i < m; ++i)  // PETSc stores dense matrices by column
        for (std::size_t j = 0; j < n; ++j) values[i + j * m] = raw.dense[i * n + j];
    petsc::check(MatDenseRestoreArrayWrite(matrix, &values), "MatDenseRestoreArrayWrite");
    petsc::check(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY), "MatAssemblyBegin");
    petsc::check(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY), "MatAssemblyEnd");
    return matrix;
}

}  // namespace

DistributedRows::DistributedRows(MPI_Comm comm, const DataSet& data)
    : comm_(comm), rows_(data.rows(Split::train)), matrix_(nullptr)
{
    int rank = 0, size = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const auto [first, count] = partition(rows_, size, rank);
    auto raw = data.read(Split::train, first, count);
    labels_ = std::move(raw.label);
    const auto make = [&](auto build) {
        return petsc::Matrix(build(comm, raw, static_cast<PetscInt>(count),
                                   static_cast<PetscInt>(rows_),
                                   static_cast<PetscInt>(data.columns())));
    };
    matrix_ = data.dense() ? make(dense) : make(sparse);
}

}  // namespace quorate
