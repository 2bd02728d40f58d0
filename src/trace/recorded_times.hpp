// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "straggler/delay.hpp"
#include "trace/reader.hpp"

namespace quorate::trace {

/// The times of a run's workers, for replay: delay and computation of each worker's answers to a
/// draw, together. The load is the mean share of the training rows that they covered, and the slope
/// the median of computation over share, since computing is in proportion to the rows.
/// Of a run that was interrupted, or still goes on, a last draw that lacks workers is left out.
/// @param name  of the file, for messages
/// @throws BadInput if a worker's time is missing, as those of cancelled tasks are
WorkerTimes recorded_times(const Trace& trace, const std::string& name);

/// Reads recorded times from a trace of Quorate or from CSV (see read_worker_times), told by content.
/// @throws BadInput
WorkerTimes read_times(const std::string& path);

}  // namespace quorate::trace
