// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "base/settings.hpp"

namespace quorate {

/// Takes options that describe the cluster from the trace of a short run (`--measured FILE`):
/// workers, row-time, slowdown, latency, and rows if there is no --data. Options that the user gave
/// stay. Does nothing without --measured. Local. O(contributions of the trace).
/// @throws BadInput if the file is not the trace of a run over MPI that lists contributions, or if
///         that run was slowed by --delay or --slowdown
Settings with_measured(Settings settings);

}  // namespace quorate
