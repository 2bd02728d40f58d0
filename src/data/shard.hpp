// SPDX-License-Identifier: BSD-2-Clause
// The part of the data that one worker holds: blocks of rows, in matrices of PETSc over only those
// columns that its rows touch.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "data/data_set.hpp"
#include "data/row_matrix.hpp"
#include "data/support.hpp"

namespace quorate {

/// One block: rows of a matrix over the shard's support, and their labels.
class ShardBlock {
public:
    /// Copies rows. @param columns  of the shard, which count the rows' columns
    /// @throws Failure if PETSc fails
    ShardBlock(const RawRows& raw, std::int64_t columns)
        : ShardBlock(std::make_shared<const RowMatrix>(raw, columns))
    {
    }
    /// Reads rows, over all columns of the data set. @throws BadInput, Failure  as RowMatrix
    ShardBlock(const DataSet& data, const RowSet& set)
        : ShardBlock(std::make_shared<const RowMatrix>(data, set))
    {
    }
    /// Makes a block of all rows of a matrix.
    explicit ShardBlock(std::shared_ptr<const RowMatrix> rows)
        : rows_(std::move(rows)), first_(0), count_(rows_->view().rows)
    {
    }
    /// Makes a block of rows [first, first + count) of another block. Shares the rows: O(1).
    ShardBlock(const ShardBlock& whole, std::int64_t first, std::int64_t count)
        : rows_(whole.rows_), first_(whole.first_ + first), count_(count)
    {
    }

    /// The rows as the kernels read them, in place. Valid as long as the block.
    RowView view() const { return rows_->view().slice(first_, count_); }
    /// The matrix that they are rows of.
    const RowMatrix& matrix() const { return *rows_; }

private:
    std::shared_ptr<const RowMatrix> rows_;
    std::int64_t first_, count_;
};

/// The blocks that one worker holds. Local. O(entries + columns) to make.
class Shard {
public:
    /// Reads the rows of each block, and no others. Values are read into the place where they stay.
    /// @param sets    the rows of each block
    /// @param others  rows of further blocks, which stand behind these
    /// @throws BadInput, Failure  as DataSet::read()
    Shard(const DataSet& data, std::span<const RowSet> sets, std::vector<RawRows> others = {});
    /// Copies rows that were read already. @param columns  of the data set
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
    Support support_;  // all columns, until rows are added
    std::vector<ShardBlock> blocks_;
    std::int64_t number_columns(std::vector<RawRows>& rows);
};

}  // namespace quorate
