// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "driver/train.hpp"

namespace quorate {

/// A run as a command makes it: its trace in the file that --trace names, checkpoints, progress and scores on the
/// terminal unless --quiet, an orderly end at a signal.
/// @param clock  wall, virtual or replayed
/// @return the exit status  @throws Failure
int traced_run(const Settings& settings, const Run& run, const std::string& clock);

/// Refuses what only traced_run() carries out: files, checkpoints, an end in time. @throws BadInput
void refuse_files(const Settings& settings);

}  // namespace quorate
