// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "trace/trace.hpp"

namespace quorate {

/// Returns what happened in a run, in at most fifteen lines of 80 columns: the result first, times
/// and scores with four digits.
/// @param path   of the trace, for the last line, which says how to see the rest
/// @param facts  what `inspect --json` prints of the trace
std::string trace_report(const trace::Trace& trace, const std::string& path,
                         const nlohmann::ordered_json& facts);

}  // namespace quorate
