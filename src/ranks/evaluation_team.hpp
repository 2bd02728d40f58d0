// SPDX-License-Identifier: BSD-2-Clause
// Scores models on several ranks, each of which has a share of the rows: both sides of their
// messages.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compute/evaluation.hpp"
#include "ranks/messages.hpp"
#include "transport/endpoint.hpp"

namespace quorate {

/// The side that has the models. It sends them as far ahead as it is asked to; each rank answers in
/// their order. Never waits: the owner gives it the messages that come. Local.
class EvaluationTeam {
public:
    /// Sends a message to a rank.
    using Send =
        std::function<void(int rank, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes)>;

    /// Tells each rank which rows it scores, and reads the labels of the test rows if the ranks are
    /// several.
    /// @param scoring, pool  what they refer to must outlive this object
    /// @param ranks          at least one, and no more than ScoredRows::useful_scorers()
    EvaluationTeam(const Scoring& scoring, const std::vector<int>& ranks, transport::Pool& pool,
                   Send send);

    /// Has models scored. A rank gets them, at the parameters that its rows touch, when it has its
    /// rows. O(models x parameters x ranks).
    /// @param models  whole parameter vectors, at least one
    void ask(std::vector<Point> models);
    /// Takes a message. @return whether it was for this object
    bool take(const transport::Message& message);

    /// Whether models were asked for whose scores were not taken.
    bool has_asked() const { return !asked_.empty(); }
    /// Whether all ranks have answered to those that were asked first.
    bool has_answered() const;
    /// Takes the scores of the models that were asked first, in their order. has_answered()
    std::vector<Scored> scores();
    /// Takes back all models whose scores were not taken, in their order.
    std::vector<Point> take_back();

private:
    // What is known of one rank.
    struct Scorer {
        int rank;
        std::shared_ptr<const Support> support = {};  // null: it has not its rows yet
        std::deque<std::shared_ptr<transport::Bytes>> answers = {};  // to the first that were asked
    };
    Scorer* scorer(int rank);
    void send(const Scorer& to, const std::vector<Point>& models);

    Scoring scoring_;
    transport::Pool& pool_;
    Send send_;
    std::vector<Scorer> scorers_;
    std::vector<double> test_labels_;
    std::deque<std::vector<Point>> asked_;
};

/// The side that has rows. Local.
class EvaluationMember {
public:
    /// What they refer to must outlive this object.
    EvaluationMember(transport::Endpoint& endpoint, const Scoring& scoring)
        : endpoint_(endpoint), scoring_(scoring)
    {
    }

    /// Reads the rows that a message names (`evaluate`), or scores its models (`score`): O(models x
    /// entries of the rows). Who has all rows also combines what it has of them.
    /// @return the answer, to be sent: `ready` or `scores`
    /// @throws BadInput, Failure  as DataSet::read(), or if the message ends too early
    transport::Message answer(const transport::Message& message);

private:
    std::shared_ptr<transport::Bytes> load(const transport::Bytes& bytes);
    std::shared_ptr<transport::Bytes> score(const transport::Bytes& bytes);

    transport::Endpoint& endpoint_;
    Scoring scoring_;
    std::optional<Shard> shard_;
    bool has_all_rows_ = false;
    std::vector<double> test_labels_;  // of all that are scored, if it has all rows
};

/// Scores models on all rows, where no rank does anything else. Each rank, the first too, scores
/// its share; a rank that is alone scores all of them on all its cores. Collective on the ranks of
/// `endpoint`, by point-to-point messages.
/// @param next, scored  called on rank 0 only
/// @throws transport::Unreachable if a rank has died
void evaluate_on_all_ranks(transport::Endpoint& endpoint, const Scoring& scoring,
                           const NextModels& next, const TakeScored& scored);

}  // namespace quorate
