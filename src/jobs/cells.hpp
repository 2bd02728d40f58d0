// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "jobs/experiment.hpp"
#include "jobs/manifest.hpp"

namespace quorate {

/// Checks the names and the values of all cells of a manifest before anything is queued, because
/// otherwise an error would show only when the job has waited. Whether values fit together, the
/// runs and estimate() check.
/// @param path   of the manifest or the experiment, for messages
/// @param lists  whether they are of an experiment, which may have several values of an option
/// @throws BadInput with the row of what is wrong
void check_cells(const Manifest& manifest, const std::string& path, RunKind kind, bool lists);

}  // namespace quorate
