// SPDX-License-Identifier: BSD-2-Clause
// Which runs of a manifest are complete.
#pragma once

#include <string>

#include "jobs/manifest.hpp"
#include "trace/run_state.hpp"

namespace quorate {

/// Returns the state of a row's run. @param manifest  path of the manifest
RunState state_of(const ManifestRow& row, const std::string& manifest);

/// Returns the numbers of the runs that are not complete. @param path  of the manifest
std::vector<std::int64_t> left_to_run(const Manifest& manifest, const std::string& path);

}  // namespace quorate
