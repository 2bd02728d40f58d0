// SPDX-License-Identifier: BSD-2-Clause
// The options of the two commands that make a run.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// Returns the options of `quorate run`.
std::vector<Option> run_options();

/// Returns the options of `quorate simulate`.
std::vector<Option> simulation_options();

/// Returns the names of all options that a run can record, over MPI or simulated.
std::set<std::string> options_of_runs();

/// Refuses options that only traced_run() carries out: files, checkpoints, an end in time.
/// @throws BadInput if one of them was given
void refuse_files(const Settings& settings);

}  // namespace quorate
