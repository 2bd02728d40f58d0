// SPDX-License-Identifier: BSD-2-Clause
// What a run does where its user leaves it open: update rule, rounds, when to stop, step size.
#pragma once

#include "data/data_set.hpp"
#include "model/model.hpp"
#include "optimizer/regularizer.hpp"
#include "optimizer/schedule.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// What the estimates of a run are, as far as its defaults depend on it.
struct EstimateKind {
    bool exact = false;              // each is that of all rows, at the newest point
    std::int64_t samples = 0;        // that an estimate has at least, if it is not exact
    double stable_step = unlimited;  // as in Needs
};

/// Returns what the estimates of a scheme are. @param batch  as in Problem
EstimateKind kind_of(const Needs& needs, std::int64_t rows, std::int64_t batch);

/// Rounds of a run that does not say how many, at most.
inline constexpr std::int64_t most_rounds = 5000;

/// Chooses --optimizer, --schedule, --rounds and --stop-at where they are not given. Smooth linear
/// models with exact estimates are trained until they are near their optimum; for all else a number
/// of rounds is the limit.
/// @param model  null: a dry run
Settings with_defaults(Settings settings, const EstimateKind& estimates, const Model* model,
                       const Regularizer& regularizer);

/// Returns what --schedule may go by. @param rounds, rows  of training
Span span_of(const Settings& settings, std::int64_t rounds, std::int64_t rows);

/// Refuses what an optimiser that searches lines (OptimizerProperties::searches) cannot work with.
/// @param model  null: a dry run  @throws BadInput
void check_search(const Settings& settings, const EstimateKind& estimates, const Model* model);

/// Returns the largest curvature of the objective of a linear model: that of the loss times the
/// largest eigenvalue of X'X / rows, and that of the L2 term. NaN if nothing bounds it. Local.
/// Reads rows only if the data set does not say its own (data/curvature.hpp).
/// @throws BadInput, Failure  as DataSet::read()
double curvature_of(const DataSet& data, const Model& model, const Regularizer& regularizer);

/// Returns the step size of --step auto, for gradients at any number of threads and workers. With L
/// the curvature: 1/L for exact estimates; 1/(2 L_b) for estimates of b samples, with the expected
/// smoothness L_b = L + (L_max - L) (N - b) / (b (N - 1)), L_max being that of the longest row
/// (Gower et al., "SGD: General analysis and improved rates", 2019); half the limit of stability
/// for stale ones (Needs::stable_step); and the optimiser's own number where curvature says
/// nothing, as for networks. Local; reads as curvature_of().
/// @throws BadInput if the rows are zero and nothing else is curved, or if squares of their numbers
///     do not fit, with the column; and as curvature_of()
double automatic_step(const Settings& settings, const DataSet& data, const Model& model,
                      const Regularizer& regularizer, const EstimateKind& estimates);
/// Returns what to give in place of a --step that diverged: the automatic one, or if that is not
/// smaller, one over the curvature of the longest row, which no mean of rows exceeds; of a network,
/// half of it. Local; reads as curvature_of().
/// @throws BadInput, Failure  as DataSet::read()
double careful_step(const Settings& settings, const DataSet& data, const Model& model,
                    const Regularizer& regularizer, const EstimateKind& estimates);
/// Returns --step as a number: what is given, or for auto the automatic one.
/// @throws BadInput, Failure  as automatic_step()
double step_of(const Settings& settings, const DataSet& data, const Model& model,
               const Regularizer& regularizer, const EstimateKind& estimates);

}  // namespace quorate
