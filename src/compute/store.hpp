// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "compute/part_sum.hpp"
#include "data/shard.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// What a worker stores.
class Store {
public:
    /// Reads its rows, or shares them. Local.
    /// @param training  all training rows, dense, to be shared with others of this process; or null
    Store(const DataSet& data, const Needs& needs, Worker worker, const Model& model,
          const ShardBlock* training = nullptr);

    /// The parameters that its rows touch.
    const Support& support() const { return support_; }
    std::int64_t rows() const { return shard_.rows(); }
    HeldRows held() const
    {
        return {shard_, shard_index_, columns_ ? &*columns_ : nullptr, coded_load_, column_load_};
    }

private:
    std::vector<std::size_t> shard_index_;  // number of a block in the needs -> in the shard
    Shard shard_;
    Support support_;
    std::optional<ShardBlock> columns_;  // coded ones, each a row
    double coded_load_, column_load_;    // of a row or column of a product, in rows of a gradient
};

}  // namespace quorate
