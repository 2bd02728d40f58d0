// SPDX-License-Identifier: BSD-2-Clause
#include "data/shard.hpp"

#include <algorithm>
#include <numeric>

namespace quorate {

static_assert(sizeof(Index) == sizeof(PetscInt),
              "QUORATE_INDEX_64 does not agree with PETSc's PetscInt");

namespace {

// Numbers the columns in use from 0, in their order.
// @param used  receives the columns in use
// @return for each column of the data set its number; -1: it is not in use
std::vector<Index> local_numbers(const std::vector<RawRows>& blocks, std::int64_t columns,
                                 std::vector<Index>& used)
{
    std::vector<Index> number(static_cast<std::size_t>(columns), -1);
    for (const auto& block : blocks)
        for (const auto column : block.column) number[static_cast<std::size_t>(column)] = 0;
    for (std::size_t column = 0; column < number.size(); ++column)
        if (number[column] == 0) {
            number[column] = static_cast<Index>(used.size());
            used.push_back(static_cast<Index>(column));
        }
    return number;
}

petsc::Matrix sparse_matrix(std::int64_t rows, std::int64_t columns, std::vector<Index>& start,
                            std::vector<Index>& column, std::vector<double>& value)
{
    const std::lock_guard lock(libraries());
    petsc::Matrix matrix;
    petsc::check(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, static_cast<PetscInt>(rows),
                                           static_cast<PetscInt>(columns), start.data(),
                                           column.data(), value.data(), matrix.made()),
                 "MatCreateSeqAIJWithArrays");
    return matrix;
}

petsc::Matrix dense_matrix(std::int64_t rows, std::int64_t columns, double* values)
{
    const std::lock_guard lock(libraries());
    petsc::Matrix by_column, matrix;
    petsc::check(MatCreateSeqDense(PETSC_COMM_SELF, static_cast<PetscInt>(columns),
                                   static_cast<PetscInt>(rows), values, by_column.made()),
                 "MatCreateSeqDense");
    petsc::check(MatCreateTranspose(by_column.get(), matrix.made()), "MatCreateTranspose");
    return matrix;
}

petsc::Vector make_vector(double* values, std::int64_t size)
{
    const std::lock_guard lock(libraries());
    petsc::Vector vector;
    petsc::check(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, static_cast<PetscInt>(size), values,
                                       vector.made()),
                 "VecCreateSeqWithArray");
    return vector;
}

std::vector<RawRows> read(const DataSet& data, std::span<const RowSet> sets)
{
    std::vector<RawRows> raw;
    for (const auto& set : sets) raw.push_back(data.read(set.split, set.first, set.count));
    return raw;
}

}  // namespace

ShardBlock::ShardBlock(RawRows raw, std::int64_t columns)
    : arrays_(std::make_shared<Arrays>()), first_(0),
      rows_(static_cast<std::int64_t>(raw.label.size())), columns_(columns)
{
    auto& arrays = *arrays_;
    arrays.label = std::move(raw.label);
    if (raw.start.empty()) {
        arrays.dense = std::move(raw.dense);
        matrix_ = dense_matrix(rows_, columns, arrays.dense.data());
    } else {
        arrays.start.assign(raw.start.begin(), raw.start.end());
        arrays.column = std::move(raw.column);
        arrays.ones = raw.value.empty();
        arrays.value =
            arrays.ones ? std::vector<double>(arrays.column.size(), 1.0) : std::move(raw.value);
        matrix_ = sparse_matrix(rows_, columns, arrays.start, arrays.column, arrays.value);
    }
    labels_ = make_vector(arrays.label.data(), rows_);
}

ShardBlock::ShardBlock(const ShardBlock& whole, std::int64_t first, std::int64_t count)
    : arrays_(whole.arrays_), first_(whole.first_ + first), rows_(count), columns_(whole.columns_),
      matrix_(dense_matrix(count, columns_, arrays_->dense.data() + first_ * columns_)),
      labels_(make_vector(arrays_->label.data() + first_, count))
{
}

RowView ShardBlock::view() const
{
    RowView view;
    view.columns = columns_;
    view.label = arrays_->label.data();
    if (arrays_->start.empty()) {
        view.dense = arrays_->dense.data();
    } else {
        view.start = arrays_->start.data();
        view.column = arrays_->column.data();
        view.value = arrays_->ones ? nullptr : arrays_->value.data();
    }
    return view.slice(first_, rows_);
}

Shard::Shard(const DataSet& data, std::span<const RowSet> sets)
    : Shard(read(data, sets), data.columns())
{
}

Shard::Shard(std::vector<RawRows> raw, std::int64_t columns) : support_(Support::all(columns))
{
    const bool sparse =
        std::ranges::any_of(raw, [](const auto& one) { return !one.start.empty(); });
    if (sparse) {
        std::vector<Index> used;
        const auto number = local_numbers(raw, columns, used);
        for (auto& block : raw)
            for (auto& column : block.column) column = number[static_cast<std::size_t>(column)];
        support_ = Support::of(columns, std::move(used));
    }
    for (auto& block : raw)
        blocks_.emplace_back(std::move(block), static_cast<std::int64_t>(support_.size()));
}

Shard::Shard(std::vector<ShardBlock> blocks, std::int64_t columns)
    : support_(Support::all(columns)), blocks_(std::move(blocks))
{
}

std::int64_t Shard::rows() const
{
    return std::accumulate(blocks_.begin(), blocks_.end(), std::int64_t{0},
                           [](auto sum, const auto& block) { return sum + block.view().rows; });
}

}  // namespace quorate
