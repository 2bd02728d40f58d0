// SPDX-License-Identifier: BSD-2-Clause
// Finds the logs of jobs, and in them why a run has failed.
#pragma once

#include <string>
#include <vector>

#include "jobs/queue.hpp"

namespace quorate {

/// The logs of a folder's jobs, as job scripts name them: NAME.JOB_ROW.log of SLURM, NAME.ROW.log
/// of PBS.
class JobLogs {
public:
    /// Reads the names of the folder's files. @param folder  of manifest and jobs
    explicit JobLogs(std::string folder);
    /// Returns the log of a row's last job that has one; empty if there is none.
    std::string of(const std::vector<SubmittedJob>& jobs, std::int64_t row) const;

private:
    std::string folder_;
    std::vector<std::string> names_;  // in the order in which the files were changed
};

/// Returns the line of a log that says best why its run has ended: what the scheduler says when it
/// ends a job, else a launcher's word of a signal, else the failure of a rank, else what a launcher
/// says of how processes ended, else the last message of quorate that is no note of its progress,
/// else the last line; empty if there is none. Reads the last 64 KiB.
/// @param told  whether the program itself has ended the run with an error: then its message first
std::string reason_in(const std::string& log, bool told);

}  // namespace quorate
