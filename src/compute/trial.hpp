// SPDX-License-Identifier: BSD-2-Clause
// Trials of a cross-validation (`quorate tune`), in one process and on one core each.
#pragma once

#include <span>

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

/// Trains on some blocks of rows. Local. O(rounds x entries of a batch).
/// @param blocks     of training rows
/// @param support    the parameters that they touch: parameters_of(blocks, trial.model)
/// @param trained    which of them, ascending
/// @param shape      of the data set
/// @param optimizer  at its first model; at the last one afterwards
/// @return whether all gradients were finite
bool train(const Shard& blocks, const Support& support, std::span<const std::size_t> trained,
           const DataShape& shape, const TrialOptions& trial, Optimizer& optimizer);

/// Returns the quality of a model on a block of rows. Local. O(entries of the block).
/// @param support  as for train()
Quality quality_on(const Shard& blocks, const Support& support, std::size_t block,
                   const Model& model, ConstNumbers at);

}  // namespace quorate
