// SPDX-License-Identifier: BSD-2-Clause
// Tells from its trace whether a run is complete.
#pragma once

#include <string>

#include "job/manifest.hpp"

namespace quorate {

enum class RunState { absent, partial, complete };

/// Returns the state of a run. Reads one attribute of its trace. A trace that cannot be opened
/// counts as partial, because it may just be being written.
RunState state_of_trace(const std::string& path);

/// Returns the state of a row's run. @param manifest  path of the manifest
RunState state_of(const ManifestRow& row, const std::string& manifest);

/// Returns the numbers of the runs that are not complete. @param path  of the manifest
std::vector<std::int64_t> left_to_run(const Manifest& manifest, const std::string& path);

std::string to_string(RunState state);

}  // namespace quorate
