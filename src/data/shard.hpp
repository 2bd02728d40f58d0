// SPDX-License-Identifier: BSD-2-Clause
// What one worker holds of the data: blocks of rows as PETSc matrices and label vectors, over just
// those columns that its rows touch.
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

/// One block: its rows as a matrix over the shard's support, and its labels. The matrix is SEQAIJ, or
/// the transpose of a SEQDENSE one: PETSc's are stored by column, and rows are what is computed with.
class ShardBlock {
public:
    /// @param raw      its rows; the column numbers are those of the shard
    /// @param columns  of the shard
    ShardBlock(RawRows raw, std::int64_t columns);
    /// Rows [first, first + count) of a dense block, which is shared and not copied.
    ShardBlock(const ShardBlock& whole, std::int64_t first, std::int64_t count);

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

/// Local; reads just its rows. O(entries + columns).
class Shard {
public:
    /// @param sets  the rows of each block
    Shard(const DataSet& data, std::span<const RowSet> sets);
    /// Of rows that were read already. @param columns  of the data set
    Shard(std::vector<RawRows> blocks, std::int64_t columns);
    /// Of dense blocks. @param columns  of the data set
    Shard(std::vector<ShardBlock> blocks, std::int64_t columns);

    /// The columns that the shard's rows touch: all if the data are dense.
    const Support& support() const { return support_; }
    const ShardBlock& block(std::size_t i) const { return blocks_.at(i); }
    std::size_t size() const { return blocks_.size(); }
    std::int64_t rows() const;

private:
    Support support_;
    std::vector<ShardBlock> blocks_;
};

}  // namespace quorate
