// SPDX-License-Identifier: BSD-2-Clause
// Keeps track of the jobs of a manifest's runs. The file jobs.tsv beside the manifest holds their
// ids, and the scheduler tells what has become of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobs/profile.hpp"

namespace quorate {

/// A job that was submitted.
struct SubmittedJob {
    std::string id;                  // as the scheduler gave it; an array has one for all elements
    std::string script;              // run.sh, ...
    std::vector<std::int64_t> rows;  // of the manifest that it runs, ascending
    Scheduler scheduler = Scheduler::slurm;
};

/// Reads the jobs that were recorded in a folder, in their order; none without a file.
/// @throws BadInput if jobs.tsv is another kind of file
std::vector<SubmittedJob> submitted_jobs(const std::string& folder);

/// Adds a job to those of the folder. @throws Failure if it cannot be written
void record_job(const std::string& folder, const SubmittedJob& job);

/// A job, or an element of an array, that waits in the queue or runs.
struct QueuedJob {
    std::string id;        // as in SubmittedJob
    std::int64_t row = 0;  // of the manifest; 0: none
    bool running = false;
    std::string reason;  // why it waits, in a word of the scheduler; may be empty
};

/// Asks the scheduler which of these jobs wait or run. SLURM tells it for each element of an array.
/// With PBS all rows of a job count until the job has ended; one call of qstat for each job.
/// @throws Failure if there are jobs and the scheduler does not answer
std::vector<QueuedJob> jobs_in_queue(const std::vector<SubmittedJob>& jobs);

/// Cancels jobs, one call for all of a scheduler, in this order.
/// @throws Failure if the scheduler does not do it
void cancel_jobs(const std::vector<SubmittedJob>& jobs);

/// What the scheduler's accounting says of a row's jobs.
struct Accounted {
    std::string state;        // of the last one: COMPLETED, FAILED, TIMEOUT, OUT_OF_MEMORY, ...
    double core_seconds = 0;  // that they had, all attempts together
    std::string exit =
        {};  // of the last one: "status 127", "signal 9"; empty: it is not known, or 0
};

/// Asks SLURM's accounting (sacct) for what has become of each row. Empty if it does not answer, as
/// on clusters without accounting, and with PBS.
std::map<std::int64_t, Accounted> accounting(const std::vector<SubmittedJob>& jobs);

}  // namespace quorate
