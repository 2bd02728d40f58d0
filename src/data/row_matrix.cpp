// SPDX-License-Identifier: BSD-2-Clause
#include "data/row_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/linear.hpp"

namespace quorate {

static_assert(sizeof(Index) == sizeof(PetscInt),
              "QUORATE_INDEX_64 does not agree with PETSc's PetscInt");

using petsc::check;

namespace {

// What a matrix is given for the kernels, and the arrays of ones, which are null of other rows.
struct Attached {
    RowView view;
    PetscInt *start = nullptr, *column = nullptr;
};
constexpr const char* attached_name = "quorate_rows";

PetscErrorCode free_attached(void* pointer)
{
    auto* attached = static_cast<Attached*>(pointer);
    PetscFree(attached->start);
    PetscFree(attached->column);
    delete attached;
    return 0;
}

const RowView& rows_of(Mat matrix)
{
    PetscObject container = nullptr;
    void* attached = nullptr;
    PetscObjectQuery(reinterpret_cast<PetscObject>(matrix), attached_name, &container);
    PetscContainerGetPointer(reinterpret_cast<PetscContainer>(container), &attached);
    return static_cast<Attached*>(attached)->view;
}

double entries_of(const RowView& rows)
{
    return rows.dense ? static_cast<double>(rows.rows) * static_cast<double>(rows.columns)
                      : static_cast<double>(rows.start[rows.rows]);
}

// The functions of PETSc that follow are called by PETSc, so they return its codes.

PetscErrorCode multiply_rows(Mat matrix, Vec x, Vec y)
{
    const PetscScalar* from = nullptr;
    PetscScalar* to = nullptr;
    PetscCall(VecGetArrayRead(x, &from));
    PetscCall(VecGetArrayWrite(y, &to));
    linear::product(rows_of(matrix), from, 1, to);
    PetscCall(VecRestoreArrayWrite(y, &to));
    PetscCall(VecRestoreArrayRead(x, &from));
    return PetscLogFlops(2 * entries_of(rows_of(matrix)));
}

PetscErrorCode multiply_transpose_add(Mat matrix, Vec x, Vec z, Vec y)
{
    const PetscScalar* from = nullptr;
    PetscScalar* to = nullptr;
    if (y != z) PetscCall(VecCopy(z, y));
    PetscCall(VecGetArrayRead(x, &from));
    PetscCall(VecGetArray(y, &to));
    linear::add_transpose_product(rows_of(matrix), from, 1, to);
    PetscCall(VecRestoreArray(y, &to));
    PetscCall(VecRestoreArrayRead(x, &from));
    return PetscLogFlops(2 * entries_of(rows_of(matrix)));
}

PetscErrorCode multiply_transpose(Mat matrix, Vec x, Vec y)
{
    PetscCall(VecSet(y, 0));
    return multiply_transpose_add(matrix, x, y, y);
}

// Shows rows that PETSc's own types do not hold as they are, as a matrix of such a type.
PetscErrorCode show(Mat matrix, PetscViewer viewer)
{
    PetscBool is_text = PETSC_FALSE;
    PetscViewerFormat format = PETSC_VIEWER_DEFAULT;
    PetscCall(
        PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &is_text));
    PetscCall(PetscViewerGetFormat(viewer, &format));
    const bool short_text =
        format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL;
    if (is_text && short_text) return 0;  // PETSc has written it
    const auto& rows = rows_of(matrix);
    Mat plain = nullptr;
    PetscCall(MatCreate(PETSC_COMM_SELF, &plain));
    PetscCall(MatSetOptionsPrefix(plain, "plain_"));  // so that -mat_view does not show it, too
    PetscCall(MatSetSizes(plain, static_cast<PetscInt>(rows.rows),
                          static_cast<PetscInt>(rows.columns), PETSC_DETERMINE, PETSC_DETERMINE));
    if (rows.dense) {
        PetscCall(MatSetType(plain, MATSEQDENSE));
        PetscCall(MatSeqDenseSetPreallocation(plain, nullptr));
        PetscScalar* to = nullptr;
        PetscCall(MatDenseGetArrayWrite(plain, &to));
        for (std::int64_t i = 0; i < rows.rows; ++i)
            for (std::int64_t c = 0; c < rows.columns; ++c)
                to[i + c * rows.rows] = rows.dense[i * rows.columns + c];
        PetscCall(MatDenseRestoreArrayWrite(plain, &to));
    } else {
        PetscScalar* ones = nullptr;
        PetscCall(PetscMalloc1(rows.start[rows.rows], &ones));
        std::fill_n(ones, rows.start[rows.rows], 1.0);
        PetscCall(MatSetType(plain, MATSEQAIJ));
        PetscCall(MatSeqAIJSetPreallocationCSR(plain, rows.start, rows.column, ones));
        PetscCall(PetscFree(ones));
    }
    PetscCall(MatView(plain, viewer));
    return MatDestroy(&plain);
}

template <class Function>
void set(Mat matrix, MatOperation operation, Function* function)
{
    check(MatSetOperation(matrix, operation, reinterpret_cast<void (*)()>(function)),
          "MatSetOperation");
}

// Makes the kernels the matrix's products. @param attached  the matrix owns it from now on
void attach(Mat matrix, Attached* attached)
{
    petsc::Owner<PetscContainer, PetscContainerDestroy> container;
    check(PetscContainerCreate(PETSC_COMM_SELF, container.made()), "PetscContainerCreate");
    check(PetscContainerSetPointer(container.get(), attached), "PetscContainerSetPointer");
    check(PetscContainerSetUserDestroy(container.get(), free_attached),
          "PetscContainerSetUserDestroy");
    check(PetscObjectCompose(reinterpret_cast<PetscObject>(matrix), attached_name,
                             reinterpret_cast<PetscObject>(container.get())),
          "PetscObjectCompose");
    set(matrix, MATOP_MULT, multiply_rows);
    set(matrix, MATOP_MULT_TRANSPOSE, multiply_transpose);
    set(matrix, MATOP_MULT_TRANSPOSE_ADD, multiply_transpose_add);
}

petsc::Matrix empty_matrix(std::int64_t rows, std::int64_t columns)
{
    petsc::Matrix matrix;
    const auto m = static_cast<PetscInt>(rows), n = static_cast<PetscInt>(columns);
    check(MatCreate(PETSC_COMM_SELF, matrix.made()), "MatCreate");
    check(MatSetSizes(matrix.get(), m, n, m, n), "MatSetSizes");
    return matrix;
}

}  // namespace

RowMatrix::RowMatrix(const RawRows& raw, std::int64_t columns)
    : RowMatrix(raw, columns, raw.start.empty(),
                raw.start.empty() || !raw.value.empty() || raw.column.empty()
                    ? [&raw](std::span<double> to) {
                          std::ranges::copy(raw.start.empty() ? raw.dense : raw.value, to.begin());
                      }
                    : Fill())
{
}

RowMatrix::RowMatrix(const DataSet& data, const RowSet& set)
    : RowMatrix(data, set, data.read_structure(set.split, set.first, set.count), data.columns())
{
}

RowMatrix::RowMatrix(const DataSet& data, const RowSet& set, const RawRows& structure,
                     std::int64_t columns)
    : RowMatrix(
          structure, columns, data.dense(),
          data.ones() ? Fill() : [&data, &set](std::span<double> to) {
              data.read_values(set.split, set.first, set.count, to);
          })
{
}

RowMatrix::RowMatrix(const RawRows& structure, std::int64_t columns, bool dense, const Fill& fill)
{
    const std::lock_guard lock(libraries());
    view_.rows = std::ssize(structure.label);
    view_.columns = columns;
    make_labels(structure.label);
    if (dense)
        make_dense(fill);
    else if (fill)
        make_sparse(structure, fill);
    else
        make_ones(structure);
    complete();
}

RowMatrix::~RowMatrix()
{
    const std::lock_guard lock(libraries());
    if (view_.dense)
        MatDenseRestoreArrayRead(by_column_.get(), &view_.dense);
    else if (view_.value)
        MatSeqAIJRestoreArrayRead(matrix_.get(), &view_.value);
    VecRestoreArrayRead(labels_.get(), &view_.label);
}

void RowMatrix::make_labels(std::span<const double> labels)
{
    check(VecCreateSeq(PETSC_COMM_SELF, static_cast<PetscInt>(view_.rows), labels_.made()),
          "VecCreateSeq");
    PetscScalar* to = nullptr;
    check(VecGetArrayWrite(labels_.get(), &to), "VecGetArrayWrite");
    std::ranges::copy(labels, to);
    check(VecRestoreArrayWrite(labels_.get(), &to), "VecRestoreArrayWrite");
    check(VecGetArrayRead(labels_.get(), &view_.label), "VecGetArrayRead");
}

void RowMatrix::make_dense(const Fill& fill)
{
    check(MatCreateSeqDense(PETSC_COMM_SELF, static_cast<PetscInt>(view_.columns),
                            static_cast<PetscInt>(view_.rows), nullptr, by_column_.made()),
          "MatCreateSeqDense");
    PetscScalar* to = nullptr;
    check(MatDenseGetArrayWrite(by_column_.get(), &to), "MatDenseGetArrayWrite");
    fill({to, static_cast<std::size_t>(view_.rows * view_.columns)});
    check(MatDenseRestoreArrayWrite(by_column_.get(), &to), "MatDenseRestoreArrayWrite");
    check(MatDenseGetArrayRead(by_column_.get(), &view_.dense), "MatDenseGetArrayRead");
    check(MatCreateTranspose(by_column_.get(), matrix_.made()), "MatCreateTranspose");
    attach(matrix_.get(), new Attached{view_});
    set(matrix_.get(), MATOP_VIEW, show);
}

void RowMatrix::make_sparse(const RawRows& structure, const Fill& fill)
{
    matrix_ = empty_matrix(view_.rows, view_.columns);
    auto* const matrix = matrix_.get();
    std::vector<PetscInt> length;
    for (std::size_t row = 0; row + 1 < structure.start.size(); ++row)
        length.push_back(static_cast<PetscInt>(structure.start[row + 1] - structure.start[row]));
    check(MatSetType(matrix, MATSEQAIJ), "MatSetType");
    check(MatSetOption(matrix, MAT_USE_INODES, PETSC_FALSE), "MatSetOption");
    check(MatSeqAIJSetPreallocation(matrix, 0, length.data()), "MatSeqAIJSetPreallocation");
    // PETSc does not change them, though it does not say so.
    check(MatSeqAIJSetColumnIndices(matrix, const_cast<PetscInt*>(structure.column.data())),
          "MatSeqAIJSetColumnIndices");
    PetscScalar* to = nullptr;
    check(MatSeqAIJGetArrayWrite(matrix, &to), "MatSeqAIJGetArrayWrite");
    fill({to, structure.column.size()});
    check(MatSeqAIJRestoreArrayWrite(matrix, &to), "MatSeqAIJRestoreArrayWrite");
    PetscInt rows = 0;
    PetscBool done = PETSC_FALSE;
    check(
        MatGetRowIJ(matrix, 0, PETSC_FALSE, PETSC_FALSE, &rows, &view_.start, &view_.column, &done),
        "MatGetRowIJ");
    check(MatSeqAIJGetArrayRead(matrix, &view_.value), "MatSeqAIJGetArrayRead");
    attach(matrix, new Attached{view_});
}

void RowMatrix::make_ones(const RawRows& structure)
{
    matrix_ = empty_matrix(view_.rows, view_.columns);
    auto* const matrix = matrix_.get();
    check(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(matrix), "ones"),
          "PetscObjectChangeTypeName");
    auto* const attached = new Attached;
    attach(matrix, attached);
    check(PetscMalloc1(structure.start.size(), &attached->start), "PetscMalloc1");
    check(PetscMalloc1(structure.column.size(), &attached->column), "PetscMalloc1");
    std::ranges::transform(structure.start, attached->start,
                           [](auto start) { return static_cast<PetscInt>(start); });
    std::ranges::copy(structure.column, attached->column);
    view_.start = attached->start;
    view_.column = attached->column;
    attached->view = view_;
    set(matrix, MATOP_VIEW, show);
    check(MatSetUp(matrix), "MatSetUp");
}

// Says that the matrix has all of its entries, whereupon PETSc does what its options ask for.
void RowMatrix::complete()
{
    check(MatAssemblyBegin(matrix_.get(), MAT_FINAL_ASSEMBLY), "MatAssemblyBegin");
    check(MatAssemblyEnd(matrix_.get(), MAT_FINAL_ASSEMBLY), "MatAssemblyEnd");
}

}  // namespace quorate
