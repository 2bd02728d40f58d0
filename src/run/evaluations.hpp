// SPDX-License-Identifier: BSD-2-Clause
// What is made of the scores of a model: a row of the trace, and a line for the user.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "compute/evaluation.hpp"
#include "optimizer/regularizer.hpp"
#include "trace/rows.hpp"

namespace quorate {

/// Returns --evaluate-rows, which scored_rows_of() reads, with --seed.
Option evaluate_rows_option();
/// Returns the rows on which the models of a run are scored. @throws BadInput
ScoredRows scored_rows_of(const Settings& settings, const DataSet& data);

/// Makes the row of a scored model. The objective is its training loss plus the penalty.
/// @param round    number of updates after which the model was taken
/// @param model    its number, 0 if the scheme trains one
/// @param time     of that round's update, seconds
/// @param penalty  value of the regulariser at the model
trace::Evaluation evaluation_row(std::int64_t round, std::int64_t model, double time,
                                 double penalty, const Scored& scored);

/// Scores models until `next` gives none, and calls `scored` for each in order; as
/// RankFleet::evaluate().
using Evaluate = std::function<void(const NextModels& next, const TakeScored& scored)>;

/// Scores the models that a run has kept, and adds a row for each to its trace. Reads 4 MiB of
/// models at a time, but at least one.
/// @param trace   gives the models and takes the rows: trace::Record or trace::Appender
/// @param rounds  time and model of each round; element 0 is round 1. Models of later ones are left
///                out
/// @param done    rounds whose models have scores; those that get some are added
/// @param width   elements of a model, at least 1
/// @return the last row; all zero if there was no model
template <class Trace, class Round>
trace::Evaluation score_kept(Trace& trace, const std::vector<Round>& rounds,
                             std::set<std::int64_t>& done, std::int64_t width,
                             const Regularizer& regularizer, const Evaluate& evaluate)
{
    constexpr std::size_t bytes = 4 << 20;
    const auto at_once =
        std::max<std::size_t>(1, bytes / (static_cast<std::size_t>(width) * sizeof(double)));
    const auto kept = trace.iterate_rounds();
    std::int64_t next = 0;
    std::vector<std::pair<std::int64_t, double>> asked;  // round and penalty of each model
    const auto models = [&] {
        std::vector<Point> some;
        for (; some.size() < at_once && next < std::ssize(kept); ++next) {
            const auto round = kept[static_cast<std::size_t>(next)];
            if (round > std::ssize(rounds) || done.contains(round)) continue;
            some.push_back(trace.iterate(next));
            asked.emplace_back(round, regularizer.value(*some.back()));
        }
        return some;
    };
    std::size_t scored = 0;
    trace::Evaluation row{};
    evaluate(models, [&](const Scored& one) {
        const auto [round, penalty] = asked.at(scored++);
        const auto& of = rounds.at(static_cast<std::size_t>(round - 1));
        row = evaluation_row(round, of.model, of.time, penalty, one);
        trace.add(row);
        done.insert(round);
    });
    return row;
}

/// Returns a line: the losses, and accuracy and AUC if the model has them.
std::string quality_line(const trace::Evaluation& row);

}  // namespace quorate
