// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>

#include "base/owner.hpp"
#include "run/run.hpp"

namespace quorate {

/// Makes a run as a command does: writes its trace to the file of --trace, writes checkpoints,
/// shows progress and scores unless --quiet, and ends in order when stop_asked(). Coordinator only.
/// @param clock  "wall", "virtual" or "replayed"
/// @param owner  of the trace
/// @return exit_done, or exit_run_again if the run was stopped before its last round
/// @throws Failure as train(), after a last checkpoint if one can be written
int traced_run(const Settings& settings, const Run& run, const std::string& clock,
               std::unique_ptr<Owner> owner);

}  // namespace quorate
