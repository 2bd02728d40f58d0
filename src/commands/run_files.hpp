// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace quorate {

/// Names of the files in a run's folder.
namespace run_file {
inline constexpr const char* trace = "trace.h5";
inline constexpr const char* checkpoint = "checkpoint.h5";
inline constexpr const char* options = "options.ini";
inline constexpr const char* log = "log.txt";
}  // namespace run_file

/// Returns the trace in the folder of a run, if a path is that of one; else the path as it is.
/// Local.
std::string trace_in(const std::string& path);

}  // namespace quorate
