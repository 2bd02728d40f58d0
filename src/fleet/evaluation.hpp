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

/// Models at the columns that one worker's rows touch.
/// @param models  whole vectors
std::shared_ptr<mpi::Bytes> encode_models(std::span<const Point> models, const Support& support,
                                          mpi::Pool& pool);

/// Scores models on all rows in this process, on all cores. @param next, scored  as in MpiFleet
void evaluate_here(const DataSet& data, const Model& model,
                   const std::function<std::vector<Point>()>& next,
                   const std::function<void(double train_loss, const Quality& test)>& scored);

/// The worker's half. @param shard  block 0: training rows; block 1, if any: test rows
/// @return the sum of each model's training losses, then the test scores of one model after the other
std::shared_ptr<mpi::Bytes> score_models(const mpi::Bytes& models, const Shard& shard,
                                         const Model& model, mpi::Pool& pool);

}  // namespace quorate
