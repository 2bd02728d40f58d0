// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "data/shard.hpp"
#include "fleet/part_sum.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// What a worker stores.
class Store {
public:
    /// Reads its rows. Local.
    Store(const DataSet& data, const Needs& needs, Worker worker, const Model& model);

    /// The parameters that its rows touch.
    const Support& support() const { return support_; }
    std::int64_t rows() const { return shard_.rows(); }
    HeldRows held() const { return {shard_, place_, coded_load_}; }

private:
    std::vector<std::size_t> place_;  // number of a block in the needs -> in the shard
    Shard shard_;
    Support support_;
    double coded_load_;  // of a row of a product, in rows of a gradient
};

}  // namespace quorate
