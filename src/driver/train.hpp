// SPDX-License-Identifier: BSD-2-Clause
// The run itself, over whichever fleet.
#pragma once

#include <functional>

#include "driver/resumption.hpp"
#include "driver/training.hpp"
#include "mpi/live_scoring.hpp"

namespace quorate {

/// Scores models; see MpiFleet::evaluate.
using Evaluate = std::function<void(const std::function<std::vector<Point>()>& next,
                                    const std::function<void(const Scored&)>& scored)>;

/// Trains, scores what was kept, writes the trace and says how it went.
/// @param clock  wall, virtual or replayed  @param resumed  what the run goes on from, if anything
/// @param live   scores some models while the run goes on; may be none
/// @return the exit status
int train(const Settings& settings, const Training& training, Fleet& fleet,
          const Optimizers& optimizers, const std::string& clock, const Evaluate& evaluate,
          const std::optional<Resumption>& resumed, LiveScoring* live = nullptr);

}  // namespace quorate
