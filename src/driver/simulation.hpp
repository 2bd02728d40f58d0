// SPDX-License-Identifier: BSD-2-Clause
// One run without MPI: under a virtual clock, or again from its trace.
#pragma once

#include <vector>

#include "base/settings.hpp"

namespace quorate {

std::vector<Option> simulation_options();

/// @return the exit status
int simulate(const Settings& given);

}  // namespace quorate
