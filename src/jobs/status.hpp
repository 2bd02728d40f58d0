// SPDX-License-Identifier: BSD-2-Clause
// What has become of the runs of a manifest: from their traces, the queue, and the logs of jobs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/manifest.hpp"
#include "trace/run_state.hpp"

namespace quorate {

/// Returns the state of a row's run, by its trace alone. @param manifest  path of the manifest
RunState state_of(const ManifestRow& row, const std::string& manifest);

/// Returns the numbers of the runs that are not complete. @param path  of the manifest
std::vector<std::int64_t> left_to_run(const Manifest& manifest, const std::string& path);

/// failed: it has ended without being complete, and not because its time was over; left: it has not
/// begun, or was stopped in time and can go on.
enum class RunStage { completed, running, queued, failed, left };

std::string to_string(RunStage stage);

/// What is known of a run. What is not known is empty.
struct RunStatus {
    std::int64_t run = 0;    // its number
    std::string trace = {};  // as in the manifest
    RunStage stage = RunStage::left;
    std::int64_t rounds = 0;                         // done
    std::optional<std::int64_t> rounds_wanted = {};  // at most
    std::optional<double> loss = {};          // of the last model scored, else the last estimate
    std::optional<double> seconds_left = {};  // of rounds, once it runs
    std::optional<double> core_hours = {}, core_hours_left = {};  // spent and still needed
    std::int64_t lost = 0;    // workers that died, each counted once
    std::string reason = {};  // why it failed or waits, in one line
    std::string log = {};     // of its last job, a path beside the manifest; empty: there is none
};

/// What is known of all runs of a manifest.
struct ManifestStatus {
    std::vector<RunStatus> runs;
    std::string no_queue;  // why the queue was not asked or does not answer; empty: it has answered
};

/// Reads the traces of all runs, also of those that are being written, and asks the queue for the
/// jobs that quorate submit has recorded. Changes nothing. Local.
///
/// The time left is that of the rounds left, as long each as the last ones; of a run without rounds
/// as those of the run with rounds that has most options in common. Core-hours are those of the
/// scheduler's accounting where it answers, else cores x seconds of the rounds in the trace.
/// Simulated runs have none: their clock is not the machine's.
/// @param path  of the manifest
/// @throws BadInput if jobs.tsv beside the manifest is another kind of file
ManifestStatus status_of(const Manifest& manifest, const std::string& path);

}  // namespace quorate
