// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "trace/table.hpp"
#include "trace/trace.hpp"

namespace quorate::trace {

/// Local. @throws BadInput if the file is not a trace or lacks a table
Trace read(const std::string& path);

/// What contradicts itself in a trace, one line each; nothing for a sound one.
/// Checked: times ascend, used + erased = workers, used arrivals agree with the rounds, no negative
/// durations, rounds done agree with the status.
std::vector<std::string> faults(const Trace& trace);

}  // namespace quorate::trace
