// SPDX-License-Identifier: BSD-2-Clause
// What `run` and `simulate` share: the options, and what is built from them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/part_sum.hpp"
#include "data/data_set.hpp"
#include "engine/engine.hpp"
#include "model/model.hpp"
#include "straggler/byzantine.hpp"
#include "straggler/delay.hpp"

namespace quorate {

/// Those of both commands.
std::vector<Option> training_options();

/// Everything that all ranks of a run build alike from its options. Without data: a dry run.
struct Training {
    std::optional<DataSet> data;
    std::int64_t rows, columns;  // of the training split
    int workers, standby;
    std::uint64_t seed;
    Regularizer regularizer;
    Seconds row_time;
    ByzantineWorkers byzantine;
    EngineOptions engine;
    std::shared_ptr<Coding> coding;  // the first
    std::unique_ptr<Model> model;    // none if dry
    std::unique_ptr<DelayModel> delays, slowdowns;
    int threads;

    /// Elements of the model; 0 if dry.
    std::int64_t width() const { return model ? model->parameters(columns) : 0; }
    /// Not of a dry run.
    Computing computing() const
    {
        return {*model, &coding->batches, model->chunk_rows(data->shape()), threads,
                regularizer.l2};
    }
};

/// Options that mean nothing to a dry run.
inline constexpr const char* options_of_data[] = {"data", "model", "init",    "l2",
                                                  "l1",   "clip",  "threads", "evaluate-every"};

/// How large a problem is that has no data.
struct DrySize {
    std::int64_t rows, columns;
};

/// @param default_workers  unless --workers says otherwise
/// @param dry  of a run without data; else --data is read
/// @throws BadInput for whatever the options get wrong
Training build_training(const Settings& settings, int default_workers,
                        const std::optional<DrySize>& dry = {});

/// One for each model that the scheme trains.
using Optimizers = std::vector<std::unique_ptr<Optimizer>>;

/// What only the coordinator needs, checked before any work. @throws BadInput
Optimizers build_optimizers(const Settings& settings, const Training& training);

}  // namespace quorate
