// SPDX-License-Identifier: BSD-2-Clause
// Scoring models after a run: each worker scores its share of the rows, whatever the scheme was.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compute/point.hpp"
#include "data/shard.hpp"
#include "model/model.hpp"

namespace quorate {

/// The rows that one worker scores.
struct EvaluationRows {
    std::int64_t train_first, train_count, test_first, test_count;
};

/// Share `worker` of `workers`, each to within one row.
EvaluationRows evaluation_rows(const DataSet& data, int workers, int worker);

/// Reads these rows. Block 0: training rows; block 1, if any: test rows. Local.
Shard evaluation_shard(const DataSet& data, const EvaluationRows& rows);

/// What is known of one model.
struct Scored {
    double train_loss;      // mean, without regulariser
    double train_accuracy;  // NaN if labels are not classes
    Quality test;
};

/// Elements of what score() writes.
std::size_t scores_length(std::size_t models, const Shard& shard, const Model& model);

/// Scores models on a shard's rows.
/// @param shard   as evaluation_shard makes it
/// @param models  each at the parameters that the shard's rows touch
/// @param out     for each model the sum of its training losses and the training rows that it tells, then the
///                test scores of one model after the other
void score(std::span<const std::span<const double>> models, const Shard& shard, const Model& model,
           std::span<double> out);

/// What all workers' scores of some models say.
/// @param answers  of worker 0, 1, ...; sums go by worker, so that the order of arrival changes no bit
std::vector<Scored> combine_scores(const DataSet& data, const Model& model, std::size_t models,
                                   std::span<const std::span<const double>> answers,
                                   std::span<const double> test_labels);

/// Scores models on all rows in this process, on all cores.
/// @param next      the next few models; none when there are no more
/// @param scored    receives, in order, what is known of each
/// @param training  the training rows, if they are dense and held already; else they are read
void evaluate_here(const DataSet& data, const Model& model,
                   const std::function<std::vector<Point>()>& next,
                   const std::function<void(const Scored&)>& scored,
                   const ShardBlock* training = nullptr);

}  // namespace quorate
