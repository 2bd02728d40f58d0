// SPDX-License-Identifier: BSD-2-Clause
// Keeps track of the jobs of a manifest's runs. The file jobs.tsv beside the manifest holds their
// ids, and the scheduler tells which of them have not ended.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "job/profile.hpp"

namespace quorate {

/// A job that was submitted.
struct SubmittedJob {
    std::string id;                  // as the scheduler gave it; an array has one for all elements
    std::string script;              // run.sh, ...
    std::vector<std::int64_t> rows;  // of the manifest that it runs, ascending
};

/// Reads the jobs that were recorded in a folder, in their order; none without a file.
/// @throws BadInput if jobs.tsv is another kind of file
std::vector<SubmittedJob> submitted_jobs(const std::string& folder);

/// Adds a job to those of the folder. @throws Failure if it cannot be written
void record_job(const std::string& folder, const SubmittedJob& job);

/// Asks the scheduler which rows of these jobs wait in the queue or run. SLURM tells it for each
/// element of an array. With PBS all rows of a job count until the job has ended; one call of qstat
/// for each job.
/// @throws Failure if there are jobs and the scheduler does not answer
std::set<std::int64_t> rows_in_queue(const std::vector<SubmittedJob>& jobs, Scheduler scheduler);

}  // namespace quorate
