// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/checked_estimates.hpp"
#include "trace/trace.hpp"

namespace quorate {

/// What a check of a trace's estimates has found.
struct EstimateCheck {
    std::vector<CheckedRound> rounds;  // the sample
    std::int64_t possible;             // rounds of which all points are known
    std::int64_t all;                  // rounds of the run
};

/// Computes estimates of a recorded run again, from the weights and versions in its trace, the
/// models that it keeps and the rows. Goes through the events of the run, as a replay does, to know
/// which rows each task was for, but computes the contributions of the sample only. Starts MPI and
/// PETSc. Local. O(events + rounds of the sample x rows of their contributions); needs the memory
/// of all workers' rows.
/// @param trace  of a run with --trace-weights  @param path  of it
/// @param data   the run's data set
/// @param most   rounds of the sample, which are evenly spread over those that can be checked
/// @throws BadInput if the trace cannot be checked, or these are other data
/// @throws Failure if the events of the trace are not those of its options
EstimateCheck check_estimates(const trace::Trace& trace, const std::string& path,
                              const std::string& data, std::int64_t most);

}  // namespace quorate
