// SPDX-License-Identifier: BSD-2-Clause
// What has become of runs, as their traces say.
#pragma once

#include <string>

#include "job/manifest.hpp"

namespace quorate {

enum class RunState { absent, partial, complete };

/// Cheap: reads one attribute. What cannot be opened, as it is being written, is partial.
RunState state_of_trace(const std::string& path);

/// Of a row, whose trace stands in the manifest's folder.
RunState state_of(const ManifestRow& row, const std::string& manifest);

/// Numbers of the runs that are not complete.
std::vector<std::int64_t> left_to_run(const Manifest& manifest, const std::string& path);

std::string to_string(RunState state);

}  // namespace quorate
