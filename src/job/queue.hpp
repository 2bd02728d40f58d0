// SPDX-License-Identifier: BSD-2-Clause
// The jobs of a manifest's runs: their ids stand in jobs.tsv beside it, and the scheduler is asked which are
// still there.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "job/profile.hpp"

namespace quorate {

struct SubmittedJob {
    std::string id;                  // as the scheduler gave it; of an array, of all its elements
    std::string script;              // run.sh, ...
    std::vector<std::int64_t> rows;  // of the manifest, that it runs; ascending
};

/// Jobs that were recorded in that folder, in their order. @throws BadInput for a file of others
std::vector<SubmittedJob> submitted_jobs(const std::string& folder);

/// Adds a job to those of the folder. @throws Failure
void record_job(const std::string& folder, const SubmittedJob& job);

/// Rows that wait in the queue or run, by these jobs. SLURM tells of each element of an array; by
/// PBS all rows of a job count until the last of them is done.
/// @throws Failure if there are jobs and the scheduler does not answer
std::set<std::int64_t> rows_in_queue(const std::vector<SubmittedJob>& jobs, Scheduler scheduler);

}  // namespace quorate
