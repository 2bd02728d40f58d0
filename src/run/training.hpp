// SPDX-License-Identifier: BSD-2-Clause
// What `quorate run` and `quorate simulate` build from their options.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compute/evaluation.hpp"
#include "compute/work.hpp"
#include "data/data_set.hpp"
#include "engine/engine.hpp"
#include "model/model.hpp"
#include "run/defaults.hpp"
#include "run/initialiser.hpp"
#include "run/stopping.hpp"
#include "straggler/byzantine.hpp"
#include "straggler/models.hpp"

namespace quorate {

/// Returns the options that build_training() and begin_training() read.
std::vector<Option> training_options();

/// Everything that all ranks of a run build alike from its options.
struct Training {
    Settings settings;                 // with what was left open chosen
    std::optional<DataSet> data;       // none: a dry run
    std::optional<ScoredRows> scored;  // none: a dry run
    std::int64_t rows, columns;        // of the training split
    int workers, standby;              // how many of each the run begins with, or began with
    int here;  // workers that are there: another number than `workers` only when a run goes on
    std::uint64_t seed;
    Regularizer regularizer;
    Seconds row_time;  // that a worker takes for a row at least
    ByzantineWorkers byzantine;
    EngineOptions engine;  // without a schedule before begin_training()
    EstimateKind estimates;
    bool searches;  // the optimiser searches lines, and so cannot diverge
    StopRules stop_rules;
    /// Rounds after which the run is done, whatever else it is to stop at; none: there are none.
    /// For replays.
    std::optional<std::int64_t> last_round = {};
    std::shared_ptr<Coding> coding;  // with which the run begins; the engine may re-encode
    std::unique_ptr<Model> model;    // null if dry
    OwnedDelayModels stragglers;
    int threads;              // of a worker
    Wire wire;                // what points and contributions are rounded to
    Compression compression;  // of contributions
    MakeInner inner;          // of local steps; none: gradient descent

    /// Elements of the model; 0 if dry.
    std::int64_t width() const { return model ? model->parameters(columns) : 0; }
    /// The type of points and contributions.
    Precision precision() const { return model ? model->precision() : Precision::binary64; }
    /// Returns what models are scored with. Not of a dry run. It refers to this object.
    Scoring scoring() const { return {*data, *model, *scored}; }
    /// Returns what workers compute with. Not of a dry run. It refers to this object.
    Computing computing() const
    {
        return {.model = *model,
                .batches = &coding->batches,
                .chunk_rows = model->chunk_rows(data->shape()),
                .threads = threads,
                .l2 = regularizer.l2,
                .wire = wire,
                .compression = compression,
                .inner = inner,
                .keeps_inner = engine.keeps_inner};
    }
};

/// Options that mean nothing to a dry run, because they concern data or a model.
inline constexpr const char* options_of_data[] = {
    "data",           "model",        "init", "l2", "l1", "clip", "threads", "coordinator-threads",
    "evaluate-every", "evaluate-rows"};

/// The size of a problem without data.
struct DrySize {
    std::int64_t rows, columns;
};

/// Checks the options of a run, and builds what follows from them. All ranks call it with the same
/// options and get the same, without messages. Local. Opens the data set, and a trace that one of
/// --row-time, --delay and --slowdown names, but reads no rows.
/// @param default_workers  number of workers if --workers is not given
/// @param dry              size of a run without data; none: --data is opened
/// @param began_with       workers that the run began with, if it is to go on; none: it begins
/// @throws BadInput if an option is wrong
Training build_training(const Settings& settings, int default_workers,
                        const std::optional<DrySize>& dry = {},
                        const std::optional<int>& began_with = {});

/// Returns what the engine is to do with the rounds of a training that has begun. Schemes that
/// combine products get the losses. It refers to the training.
EngineOptions engine_options(const Training& training);

/// An optimiser for each model that the scheme trains.
using Optimizers = std::vector<std::unique_ptr<Optimizer>>;

/// Adds what the coordinator alone needs: chooses the step size of --step auto, and makes the
/// schedule and the optimisers, each at its initial model. Before any work. Coordinator only.
/// O(parameters), and reads as automatic_step(). A second call, for another share, chooses nothing.
/// @param share  of the parameters that the optimisers are for; none: all. One without any checks
///               the options
/// @throws BadInput if an option is wrong
Optimizers begin_training(Training& training, const std::optional<ShareRange>& share = {});

}  // namespace quorate
