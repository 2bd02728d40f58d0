// SPDX-License-Identifier: BSD-2-Clause
// One trial of a cross-validation (`quorate tune`): trains without the rows of one fold, in one
// process and on one core, and measures the model on that fold.
#pragma once

#include "data/shard.hpp"
#include "model/model.hpp"
#include "optimizer/optimizer.hpp"
#include "optimizer/schedule.hpp"

namespace quorate {

/// How a trial trains.
struct TrialOptions {
    const Model& model;
    std::uint64_t seed;  // of the samples
    std::int64_t batch;  // samples of a round; 0: all rows
    std::int64_t rounds;
    Schedule schedule;
    double clip;  // largest norm of a gradient, longer ones are shortened to it; 0: no limit
};

/// Runs a trial. Local. O(rounds x entries of a batch).
/// @param folds      blocks of training rows, one for each fold; together all rows
/// @param fold       the block that is left out of training
/// @param shape      of the data set
/// @param optimizer  at its first model; changed
/// @return the quality of the last model on that fold; default-constructed if a gradient is not
///     finite
Quality run_trial(const Shard& folds, int fold, const DataShape& shape, const TrialOptions& trial,
                  Optimizer& optimizer);

}  // namespace quorate
