// SPDX-License-Identifier: BSD-2-Clause
// The runs of an experiment as jobs on a named cluster: all decisions, which are made before
// anything is written.
#pragma once

#include <string>
#include <vector>

#include "base/settings.hpp"
#include "jobs/hosts.hpp"
#include "jobs/manifest.hpp"
#include "jobs/profile.hpp"
#include "jobs/request.hpp"

namespace quorate {

/// What is to run, where, and with which resources.
struct JobPlan {
    Profile profile;
    Request request = {};
    Manifest manifest = {};
    bool new_manifest;  // whether it was expanded from an experiment, and is to be written
    std::vector<std::string> prepare = {};  // words of the command that prepares the data, if any
    std::vector<std::string> optimum = {};  // likewise, that finds the optimum for these data
    std::vector<std::string> figure = {};   // likewise, of quorate-analysis
    std::string claims = {};                // text of claims.json; empty: the experiment has none
    std::vector<Request> links = {};        // of the jobs in a row; one if they are all alike
    Hosts hosts = {};                       // of the host file, if there is one
    /// Of the host file to write; empty: the user's is read as it stands.
    std::string hosts_text = {};
};

/// Returns the options that say what is to run and on which cluster.
std::vector<Option> job_options();

/// Decides everything: expands the experiment or reads the manifest, checks its cells, and
/// estimates time and memory as estimate() does, by short simulations. Writes nothing. Local.
/// @throws BadInput if an option, a cell or the profile is wrong
JobPlan make_job_plan(const Settings& settings);

/// Returns what speaks against the plan by the rules of the cluster. Local.
/// @param hosts  whether to check the hosts of the host file too, by ssh, as check_hosts() does
/// @throws BadInput if the host file is needed and cannot be read
std::vector<Finding> findings(const JobPlan& plan, bool hosts);

}  // namespace quorate
