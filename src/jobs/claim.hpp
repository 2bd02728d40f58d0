// SPDX-License-Identifier: BSD-2-Clause
// Claims: what an experiment is to show, as sections [claim NAME] of its file say. This reads and
// checks them, and finds the runs of each; quorate-analysis claims reads the file that comes of it,
// and judges. docs/jobs.md describes them.
#pragma once

#include <string>

#include "jobs/experiment.hpp"
#include "jobs/manifest.hpp"

namespace quorate {

/// Returns the text of claims.json: each claim with its words, its paper's number, and the traces
/// of both of its sides.
/// @param manifest     the runs of the experiment
/// @param kind         the command that makes them
/// @param data_folder  that was given to expand()
/// @return nothing if the experiment claims nothing about these runs
/// @throws BadInput with file and line of what is wrong
std::string claims_text(const Experiment& experiment, const Manifest& manifest, RunKind kind,
                        const std::string& data_folder);

}  // namespace quorate
