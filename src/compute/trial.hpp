// SPDX-License-Identifier: BSD-2-Clause
// One trial of a cross-validation: training without the rows of one fold, in one process, and what the
// model is worth on that fold.
#pragma once

#include "compute/part_sum.hpp"
#include "optimizer/optimizer.hpp"
#include "optimizer/schedule.hpp"

namespace quorate {

struct Trial {
    const Model& model;
    std::uint64_t seed;
    std::int64_t batch;  // samples of a round; 0: all
    std::int64_t rounds;
    Schedule schedule;
    double clip;  // of the gradient's norm; 0: none is
};

/// @param folds  blocks of training rows, one for each fold; together all rows
/// @param fold   the one that is left out
/// @return its quality; a model that is not finite has none
Quality run_trial(const Shard& folds, int fold, const DataShape& shape, const Trial& trial,
                  Optimizer& optimizer);

}  // namespace quorate
