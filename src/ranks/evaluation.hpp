// SPDX-License-Identifier: BSD-2-Clause
// Scores models on the rows of many ranks: the messages with models and with scores, and the loop
// of a command that has no fleet. The coordinator of a run uses RankFleet::evaluate instead.
#pragma once

#include <functional>

#include "compute/scoring.hpp"
#include "ranks/messages.hpp"
#include "transport/endpoint.hpp"

namespace quorate {

/// Writes a message with models, at the parameters that one worker's rows touch. Local.
/// O(models x support).
/// @param models   whole parameter vectors
/// @param support  the parameters that the worker's rows touch
std::shared_ptr<transport::Bytes> encode_models(std::span<const Point> models,
                                                const Support& support, transport::Pool& pool);

/// Reads the models of such a message for all parameters of a model. Local. O(their elements).
/// @throws Failure if the message ends too early
std::vector<Point> decode_models(const transport::Bytes& bytes, std::int64_t parameters);

/// Scores the models of a message of encode_models(), on the worker. Local. O(models x entries of
/// the shard).
/// @param shard  the worker's rows, as evaluation_shard() makes it; the message was written for its
///               support
/// @return the answer: scores_length() doubles
/// @throws Failure if the message ends too early
std::shared_ptr<transport::Bytes> score_models(const transport::Bytes& models, const Shard& shard,
                                               const Model& model, transport::Pool& pool);

/// Combines all workers' answers to the same models (combine_scores). Local.
/// @param models       how many
/// @param answers      of worker 0, 1, ..., as score_models() makes them
/// @param test_labels  of all test rows
std::vector<Scored> combine_answers(const DataSet& data, const Model& model, std::size_t models,
                                    const std::vector<std::shared_ptr<transport::Bytes>>& answers,
                                    std::span<const double> test_labels);

/// Scores models on all rows. Each rank, the coordinator too, scores its share of the rows; a
/// single rank scores all of them on all its cores. Collective on the ranks of `endpoint`, by
/// point-to-point messages: rank 0 sends the whole models to each rank.
/// @param next, scored  as in evaluate_here(); called on rank 0 only
/// @throws transport::Unreachable if a rank has died
void evaluate_on_all_ranks(transport::Endpoint& endpoint, const DataSet& data, const Model& model,
                           const std::function<std::vector<Point>()>& next,
                           const std::function<void(const Scored&)>& scored);

}  // namespace quorate
