// SPDX-License-Identifier: BSD-2-Clause
// Scoring models on the rows of many ranks.
#pragma once

#include <functional>

#include "compute/scoring.hpp"
#include "mpi/messages.hpp"

namespace quorate {

/// Models at the parameters that one worker's rows touch.
/// @param models  whole vectors
std::shared_ptr<mpi::Bytes> encode_models(std::span<const Point> models, const Support& support,
                                          mpi::Pool& pool);

/// The worker's half: scores what encode_models has written. @param shard  of its rows
std::shared_ptr<mpi::Bytes> score_models(const mpi::Bytes& models, const Shard& shard,
                                         const Model& model, mpi::Pool& pool);

/// What all workers' answers to some models say. @param answers  of worker 0, 1, ...
std::vector<Scored> combine_answers(const DataSet& data, const Model& model, std::size_t models,
                                    const std::vector<std::shared_ptr<mpi::Bytes>>& answers,
                                    std::span<const double> test_labels);

/// Scores models on all rows, each rank on its share; a single rank on all cores. Collective.
/// @param next, scored  as in evaluate_here; called on rank 0
void evaluate_on_all_ranks(const mpi::Comm& comm, const DataSet& data, const Model& model,
                           const std::function<std::vector<Point>()>& next,
                           const std::function<void(const Scored&)>& scored);

}  // namespace quorate
