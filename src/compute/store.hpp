// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "compute/work.hpp"
#include "data/shard.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// What a worker stores: the rows of its blocks, and in coded storage its coded block and columns.
class Store {
public:
    /// Reads the worker's rows, or shares them. Local. O(entries); coded columns read the whole
    /// data set.
    /// @param worker    which worker of the coding
    /// @param training  all training rows, dense, to be shared by all stores of this process; null:
    ///                  the worker's rows are read
    /// @throws BadInput, Failure  as DataSet::read()
    Store(const DataSet& data, const Needs& needs, Worker worker, const Model& model,
          const ShardBlock* training = nullptr);

    /// The parameters that its rows touch.
    const Support& support() const { return support_; }
    std::int64_t rows() const { return shard_.rows(); }
    StoredRows view() const
    {
        return {shard_, places_, columns_ ? &*columns_ : nullptr, coded_load_, column_load_};
    }

private:
    BlockPlaces places_;  // only of its own blocks, since a simulation has a store for each worker
    Shard shard_;
    Support support_;
    std::optional<ShardBlock> columns_;  // coded columns, each as a row
    double coded_load_, column_load_;    // what a row or column of a product costs (StoredRows)
};

}  // namespace quorate
