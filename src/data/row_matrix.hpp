// SPDX-License-Identifier: BSD-2-Clause
// Rows of a data set in memory of PETSc, which its functions and the kernels read in place.
#pragma once

#include <functional>
#include <span>

#include "data/data_set.hpp"
#include "data/petsc.hpp"
#include "model/row_view.hpp"

namespace quorate {

/// A contiguous set of rows of one split.
struct RowSet {
    Split split = Split::train;
    std::int64_t first = 0, count = 0;
};

/// A matrix of rows and a vector of their labels, whose arrays are the only copy of both. Local.
///
/// | rows            | the matrix                                                             |
/// |-----------------|------------------------------------------------------------------------|
/// | sparse          | SEQAIJ                                                                 |
/// | ones            | of a type of its own, "ones": it has column numbers and no values      |
/// | dense           | the transpose (MATTRANSPOSEVIRTUAL) of a SEQDENSE matrix, whose columns |
/// |                 | are the rows: PETSc stores by column, and the kernels read rows        |
///
/// MatMult and MatMultTranspose are the kernels' products (model/linear), so their bits are the
/// same on all hosts. Of ones there are these, MatMultTransposeAdd and MatView. PETSc's -mat_view
/// shows each matrix when it is complete.
class RowMatrix {
public:
    /// Copies rows that were read or made elsewhere. O(entries).
    /// @throws Failure if PETSc fails, as for want of memory
    RowMatrix(const RawRows& raw, std::int64_t columns);
    /// Reads rows of a data set, over all of its columns. O(entries).
    /// @throws BadInput, Failure  as DataSet::read(), and if PETSc fails
    RowMatrix(const DataSet& data, const RowSet& set);
    /// Reads the values of rows whose structure was read already, straight into PETSc's arrays.
    /// @param structure  from DataSet::read_structure(), with other column numbers perhaps
    /// @param columns    that these are counted by
    RowMatrix(const DataSet& data, const RowSet& set, const RawRows& structure,
              std::int64_t columns);
    RowMatrix(const RowMatrix&) = delete;
    RowMatrix& operator=(const RowMatrix&) = delete;
    ~RowMatrix();

    /// The rows as the kernels read them, in place. Valid as long as this object.
    const RowView& view() const { return view_; }
    Mat matrix() const { return matrix_.get(); }
    Vec labels() const { return labels_.get(); }

private:
    using Fill = std::function<void(std::span<double>)>;
    RowMatrix(const RawRows& structure, std::int64_t columns, bool dense, const Fill& fill);
    void make_labels(std::span<const double> labels);
    void make_dense(const Fill& fill);
    void make_sparse(const RawRows& structure, const Fill& fill);
    void make_ones(const RawRows& structure);
    void complete();

    RowView view_;
    petsc::Vector labels_;
    petsc::Matrix by_column_, matrix_;  // by_column_: of dense rows, with what the other transposes
};

}  // namespace quorate
