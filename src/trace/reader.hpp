// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "trace/table.hpp"
#include "trace/trace.hpp"

namespace quorate::trace {

/// Reads all tables of a trace, which may belong to a run that still goes on; evaluations are
/// sorted by round. Iterates and the final model are not read. Local; holds libraries() meanwhile.
/// @throws BadInput if the file is absent, is not a trace, has a format that is not read, or is
///         damaged
Trace read(const std::string& path);

/// Checks that rows hold nothing that readers could not use as a place in a table or as a time:
/// indices and numbers of rows and bytes that are negative, unknown workers, times that are not
/// finite. read() does so. O(rows).
/// @throws Failure with the first row that makes no sense
void check_sense(const Trace& trace);

/// Returns what contradicts itself in a trace, one line each; nothing for a sound one. Checks that
/// rounds do not end before earlier ones, that used + erased = workers, that no contribution is
/// used before it came or more often than there are rounds, and that no duration is negative or
/// longer than the run so far. Of a completed run, it also checks that arrivals marked used agree
/// with the rounds, and that all rounds are there. O(rows log workers).
std::vector<std::string> faults(const Trace& trace);

}  // namespace quorate::trace
