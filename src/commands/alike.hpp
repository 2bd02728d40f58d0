// SPDX-License-Identifier: BSD-2-Clause
// What all ranks of a run must have alike: ranks that train with unlike options, or with components
// of Python that only have one name, would give a wrong result and say nothing.
#pragma once

#include <string>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// Returns the options of a run that must be alike, and what the components that they name say of
/// themselves, each as one line for messages. Local.
std::vector<std::string> to_be_alike(const Settings& settings);

/// @param theirs  of another rank  @param ours  of this one, the coordinator
/// @throws BadInput with the first line that differs
void check_alike(int rank, const std::vector<std::string>& theirs,
                 const std::vector<std::string>& ours);

}  // namespace quorate
