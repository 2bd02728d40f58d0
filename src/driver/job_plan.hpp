// SPDX-License-Identifier: BSD-2-Clause
// The runs of an experiment as jobs on a named cluster: all that is decided before anything is
// written, and the scripts.
#pragma once

#include <string>
#include <vector>

#include "base/settings.hpp"
#include "job/manifest.hpp"
#include "job/profile.hpp"
#include "job/request.hpp"

namespace quorate {

/// What is to run, where, and with which resources.
struct JobPlan {
    Profile profile;
    Request request;
    Manifest manifest;
    bool new_manifest;
    std::vector<std::string> prepare;  // words of the command that prepares the data; may be empty
    std::vector<std::string> figure;   // likewise, of quorate-analysis
};

/// Options that say what is to run and on which cluster.
std::vector<Option> job_options();

/// Decides everything: expands the experiment or reads the manifest, checks its cells, and estimates
/// time and memory, for which the longest runs are simulated. Writes nothing.
/// @throws BadInput if an option, a cell or the profile is wrong
JobPlan make_job_plan(const Settings& settings);

/// What speaks against the plan by the cluster's rules, and with `hosts` by looking at the hosts of
/// the host file.
std::vector<Finding> findings(const JobPlan& plan, bool hosts);

/// Writes manifest and scripts into the plan's folder.
/// @param command  that is making them, for their first lines
/// @throws BadInput if files of others are in the way
void write_jobs(const JobPlan& plan, const std::string& command);

}  // namespace quorate
