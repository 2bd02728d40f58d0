// SPDX-License-Identifier: BSD-2-Clause
// The part of the data that one worker holds: blocks of rows as PETSc matrices and label vectors,
// over only those columns that its rows touch.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "data/data_set.hpp"
#include "data/petsc.hpp"
#include "data/support.hpp"
#include "model/row_view.hpp"

namespace quorate {

/// A contiguous set of rows of one split.
struct RowSet {
    Split split = Split::train;
    std::int64_t first = 0, count = 0;
};

/// One block: its rows as a matrix over the shard's support, and its labels. The matrix is SEQAIJ,
/// or the transpose of a SEQDENSE one, because PETSc stores dense matrices by column and the
/// kernels read rows.
class ShardBlock {
public:
    /// Takes over rows. O(entries) only if values are all one, else O(rows).
    /// @param raw      column numbers are those of the shard
    /// @param columns  of the shard
    /// @throws Failure if PETSc fails
    ShardBlock(RawRows raw, std::int64_t columns);
    /// Makes a block of rows [first, first + count) of a dense block. Shares the rows and copies
    /// nothing.
    /// @throws Failure if PETSc fails
    ShardBlock(const ShardBlock& whole, std::int64_t first, std::int64_t count);

    /// The rows as the kernels read them, in place. Valid as long as the block.
    RowView view() const;
    Mat matrix() const { return matrix_.get(); }
    Vec labels() const { return labels_.get(); }

private:
    // PETSc uses these arrays in place, so they live as long as it does and never move.
    struct Arrays {
        std::vector<Index> start, column;
        std::vector<double> value, dense, label;
        bool ones = false;
    };
    std::shared_ptr<Arrays> arrays_;
    std::int64_t first_, rows_, columns_;
    petsc::Matrix matrix_;
    petsc::Vector labels_;
};

/// The blocks that one worker holds. Local. O(entries + columns) to make.
class Shard {
public:
    /// Reads the rows of each block, and no others.
    /// @param sets  the rows of each block
    /// @throws BadInput, Failure  as DataSet::read()
    Shard(const DataSet& data, std::span<const RowSet> sets);
    /// Takes over rows that were read already. @param columns  of the data set
    Shard(std::vector<RawRows> blocks, std::int64_t columns);
    /// Takes over dense blocks. @param columns  of the data set
    Shard(std::vector<ShardBlock> blocks, std::int64_t columns);

    /// The columns that the shard's rows touch; all columns if the data are dense.
    const Support& support() const { return support_; }
    const ShardBlock& block(std::size_t i) const { return blocks_.at(i); }
    std::size_t size() const { return blocks_.size(); }
    /// Rows of all blocks.
    std::int64_t rows() const;

private:
    Support support_;
    std::vector<ShardBlock> blocks_;
};

}  // namespace quorate
