// SPDX-License-Identifier: BSD-2-Clause
// The run itself, with any fleet. Prints nothing but warnings.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "compute/evaluation.hpp"
#include "run/evaluations.hpp"
#include "run/memory_checkpoint.hpp"
#include "run/resumption.hpp"
#include "run/training.hpp"
#include "trace/sink.hpp"

namespace quorate {

/// What a run consists of.
struct Run {
    const Training& training;
    Fleet& fleet;
    const Optimizers& optimizers;
    Evaluate evaluate;              // scores the models that were kept, after the last round
    Resumption* resumed = nullptr;  // what the run goes on from; null: it begins
    // Of a resumption: whether a ReplayFleet goes through the rounds that were done, before `fleet`
    // goes on. Otherwise `fleet` itself goes through them again.
    bool past_from_trace = false;
    LiveEvaluation* live = nullptr;  // scores some models while the run goes on; null: none
    /// Scores a model at once. Needed for rules that look at scores, where there is no `live`.
    std::function<Scored(const Point&)> score = {};
    std::optional<ShareRange> share = {};  // of the parameters that the optimisers have; none: all
    std::optional<StateLead> states = {};  // in memory; none: they are not kept
};

/// How a run ended.
struct Outcome {
    std::int64_t rounds;     // that are done
    bool completed;          // whether it is done; otherwise the run was interrupted
    std::string stopped_at;  // why it was done before its last round; empty: it was not
    Seconds time;            // of the last update, on the fleet's clock
    trace::Evaluation last;  // the model scored last; its round is 0 if none was scored
    std::int64_t skipped;    // models that live scoring had no time for
};

/// Functions that are called while a run goes on. Each may be empty. `kept` of the engine's
/// observer is not called if the run scores models live.
struct Watch {
    Observer engine = {};
    /// Called with each model that was scored live.
    std::function<void(const trace::Evaluation&)> scored = {};
    /// Called once, when the last round is over or the run was stopped, before the kept models are
    /// scored.
    std::function<void(const Outcome&)> stopped = {};
};

/// Returns the attributes with which a trace describes its run. Local.
/// @param clock  "wall", "virtual" or "replayed"
trace::Header header_of(const Settings& settings, const Run& run, const std::string& clock);

/// Returns those attributes that are no longer as they were, where a run goes on: it may have more
/// workers, on more hosts. Local.
trace::Header changed_header(const Run& run);

/// For train() and simulate(): the run is not stopped.
inline const std::atomic<bool> never_stop = false;

/// Trains until all rounds are done or `stop` is set. Scores the models that were kept if all
/// rounds are done, and finishes the record. Coordinator only. What a round costs: see
/// Engine::run().
/// @param record  receives rows, kept models and the final model; of a resumption, those after the
///                checkpoint
/// @param stop    set by another thread or by a signal
/// @throws Failure if no estimate is possible any more, or the record cannot be written
/// @throws mpi::Error if MPI fails
Outcome train(const Run& run, trace::Record& record, const std::atomic<bool>& stop,
              Watch watch = {});

}  // namespace quorate
