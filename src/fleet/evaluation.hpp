// SPDX-License-Identifier: BSD-2-Clause
// Scoring models after a run: each worker scores its share of the rows, whatever the scheme was.
#pragma once

#include <functional>

#include "data/shard.hpp"
#include "fleet/messages.hpp"
#include "model/model.hpp"

namespace quorate {

/// The rows that one worker scores.
struct EvaluationRows {
    std::int64_t train_first, train_count, test_first, test_count;
};

/// Share `worker` of `workers`, each to within one row.
EvaluationRows evaluation_rows(const DataSet& data, int workers, int worker);

/// What is known of one model.
struct Scored {
    double train_loss;      // mean, without regulariser
    double train_accuracy;  // NaN if labels are not classes
    Quality test;
};

/// Models at the parameters that one worker's rows touch.
/// @param models  whole vectors
std::shared_ptr<mpi::Bytes> encode_models(std::span<const Point> models, const Support& support,
                                          mpi::Pool& pool);

/// What all workers' answers to one batch of models say.
/// @param answers  of worker 0, 1, ...; sums go by worker, so that the order of arrival changes no bit
std::vector<Scored> combine_scores(const DataSet& data, const Model& model, std::size_t models,
                                   const std::vector<std::shared_ptr<mpi::Bytes>>& answers,
                                   std::span<const double> test_labels);

/// Scores models on all rows, each rank on its share; a single rank on all cores. Collective.
/// @param next, scored  as in MpiFleet; called on rank 0
void evaluate_on_all_ranks(const mpi::Comm& comm, const DataSet& data, const Model& model,
                           const std::function<std::vector<Point>()>& next,
                           const std::function<void(const Scored&)>& scored);

/// Scores models on all rows in this process, on all cores. @param next, scored  as in MpiFleet
/// @param training  the training rows, if they are dense and held already; else they are read
void evaluate_here(const DataSet& data, const Model& model,
                   const std::function<std::vector<Point>()>& next,
                   const std::function<void(const Scored&)>& scored,
                   const ShardBlock* training = nullptr);

/// The worker's half. @param shard  block 0: training rows; block 1, if any: test rows
/// @return for each model the sum of its training losses and the training rows that it tells, then the
///         test scores of one model after the other
std::shared_ptr<mpi::Bytes> score_models(const mpi::Bytes& models, const Shard& shard,
                                         const Model& model, mpi::Pool& pool);

}  // namespace quorate
