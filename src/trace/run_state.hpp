// SPDX-License-Identifier: BSD-2-Clause
// Tells from its trace whether a run is complete.
#pragma once

#include <string>

namespace quorate {

enum class RunState { absent, partial, complete };

/// Returns the state of a run. Reads one attribute of its trace. A trace that cannot be opened
/// counts as partial, because it may just be being written.
RunState state_of_trace(const std::string& path);

std::string to_string(RunState state);

}  // namespace quorate
