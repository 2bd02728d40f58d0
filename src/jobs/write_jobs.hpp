// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "jobs/job_plan.hpp"

namespace quorate {

/// Returns the name of the script of a job in a row, from 0: run.sh, and where links have other
/// numbers of workers, run-2.sh, ...
std::string script_of_link(const JobPlan& plan, std::size_t link);

/// Writes the manifest, if it is new, and the scripts into the plan's folder. Local.
/// @param command  the command line that makes them, for their first lines
/// @throws BadInput if the folder cannot be made, or a file in it is not one that Quorate made
/// @throws Failure if a file cannot be written
void write_jobs(const JobPlan& plan, const std::string& command);

}  // namespace quorate
