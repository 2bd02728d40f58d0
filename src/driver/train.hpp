// SPDX-License-Identifier: BSD-2-Clause
// The run itself, over whichever fleet. Prints nothing.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "driver/resumption.hpp"
#include "driver/training.hpp"
#include "mpi/live_scoring.hpp"
#include "trace/sink.hpp"

namespace quorate {

/// Scores models; see MpiFleet::evaluate.
using Evaluate = std::function<void(const std::function<std::vector<Point>()>& next,
                                    const std::function<void(const Scored&)>& scored)>;

/// What a run consists of.
struct Run {
    const Training& training;
    Fleet& fleet;
    const Optimizers& optimizers;
    Evaluate evaluate;                    // the models that were kept, after the last round
    const Resumption* resumed = nullptr;  // what the run goes on from, if anything
    bool past_from_trace = false;         // else the fleet itself goes through what was done
    LiveScoring* live = nullptr;          // scores some models while the run goes on; may be none
};

/// How a run ended.
struct Outcome {
    std::int64_t rounds;     // that are done
    bool completed;          // or stopped before
    Seconds time;            // of the last round
    trace::Evaluation last;  // round 0: no model was scored
};

/// Who watches a run; all may be empty.
struct Watch {
    Observer engine = {};
    std::function<void(const trace::Evaluation&)> scored = {};  // a model, while the run goes on
    /// The last round is over; models are to be scored yet.
    std::function<void(const Outcome&)> stopped = {};
};

/// What a trace says of its run. @param clock  wall, virtual or replayed
trace::Header header_of(const Settings& settings, const Run& run, const std::string& clock);

inline const std::atomic<bool> never_stop = false;

/// Trains until all rounds are done or `stop` is set, scores what was kept if they are, and finishes the
/// record. Over MPI: on the coordinator.
/// @throws Failure if no estimate is possible any more, or the record cannot be written
Outcome train(const Run& run, trace::Record& record, const std::atomic<bool>& stop,
              Watch watch = {});

}  // namespace quorate
