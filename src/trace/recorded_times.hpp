// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "straggler/delay.hpp"
#include "trace/reader.hpp"

namespace quorate::trace {

/// Returns the times of a run's workers, for replay. The time of a worker in a draw is the delay
/// and the computation, in seconds, of all its answers. The load is the mean share of the training
/// rows that they covered. The slope is the median of computation over share, because computing is
/// in proportion to the rows. If the run did not complete, a last draw that lacks workers is left
/// out. O(arrivals log arrivals). Local.
/// @param name  of the file, for messages
/// @throws BadInput if the trace is damaged or lists no arrivals, or if a worker's time is missing,
///         as those of cancelled tasks are
WorkerTimes recorded_times(const Trace& trace, const std::string& name);

/// Reads recorded times from a trace or from CSV (see read_worker_times). The first bytes of the
/// file tell which it is. Local.
/// @throws BadInput as recorded_times() or read_worker_times() do
WorkerTimes read_times(const std::string& path);

}  // namespace quorate::trace
