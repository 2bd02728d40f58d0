// SPDX-License-Identifier: BSD-2-Clause
// Scores models on training and test rows after a run. Scorers share out the rows, whatever the
// scheme was. Training losses are added up by tiles of rows, whose bounds do not depend on the
// number of scorers: so a run over MPI and its simulation have the same losses, bit for bit.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compute/point.hpp"
#include "compute/scored_rows.hpp"
#include "model/model.hpp"

namespace quorate {

/// What is scored, and on which rows.
struct Scoring {
    const DataSet& data;
    const Model& model;
    const ScoredRows& rows;

    /// Elements of the model.
    std::int64_t width() const { return model.parameters(data.columns()); }
};

/// What is known of one model.
struct Scored {
    double train_loss;      // mean over the rows, without regulariser
    double train_accuracy;  // NaN if labels are not classes
    Quality test;
};

/// Gives the next models (whole vectors), a few at a time; none: there are no more.
using NextModels = std::function<std::vector<Point>()>;
/// Is called for each model, in order.
using TakeScored = std::function<void(const Scored&)>;

/// Returns the number of elements that score() writes.
std::size_t scores_length(std::size_t models, const Shard& shard, const Model& model);

/// Scores models on a shard's rows. Local. O(models x entries).
/// @param models  each at the parameters that the shard's rows touch
/// @param shard   as ScoredRows::read() makes it
/// @param out     receives scores_length() elements: for each model the sum of the training losses
///                of each tile, and the number of training rows that it classifies rightly; then
///                for each model its scores of the test rows, row by row
void score(std::span<const std::span<const double>> models, const Shard& shard, const Model& model,
           std::span<double> out);

/// Combines the scores of all scorers. Sums go by tile, so that neither the order of arrival nor
/// the number of scorers changes a bit. Local. O(models x test rows x outputs), and what
/// Loss::quality costs.
/// @param models       how many
/// @param answers      of scorer 0, 1, ..., as score() writes them
/// @param test_labels  of all test rows that are scored
/// @return for each model, in order
std::vector<Scored> combine_scores(const Scoring& scoring, std::size_t models,
                                   std::span<const std::span<const double>> answers,
                                   std::span<const double> test_labels);

/// Scores models in this process, on all rows that are scored. Local.
class Evaluator {
public:
    /// Reads the rows, which stay in memory.
    /// @param scoring   what it refers to must outlive this object
    /// @param training  all training rows, if they are dense and in memory already; null: rows are
    ///                  read
    /// @throws BadInput, Failure  as DataSet::read()
    explicit Evaluator(const Scoring& scoring, const ShardBlock* training = nullptr);

    /// Scores models until there are no more, a model on each core.
    void score_all(const NextModels& next, const TakeScored& scored) const;
    /// Scores one model. O(entries).
    Scored score_one(const Point& point) const;

private:
    Scoring scoring_;
    Shard shard_;
    Support parameters_;
    std::vector<double> test_labels_;
};

/// The same of a model that was offered with a round.
using TakeLive = std::function<void(std::int64_t round, const Scored&)>;

/// Scores models while a run goes on, elsewhere. Local: used by the thread that makes the run.
class LiveEvaluation {
public:
    virtual ~LiveEvaluation() = default;
    /// Takes a model to be scored, if it is free. Never waits.
    /// @param round  what collect() tells with the scores
    /// @return whether it has taken the model
    virtual bool offer(std::int64_t round, const Point& model) = 0;
    /// Gives the scores that are there, in the order of offer().
    /// @param all  waits for those of all models that it has taken; else it never waits
    virtual void collect(const TakeLive& scored, bool all) = 0;
    /// Whether it has ended and takes no models any more.
    virtual bool has_ended() = 0;
};

}  // namespace quorate
