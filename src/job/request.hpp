// SPDX-License-Identifier: BSD-2-Clause
// What a job asks a cluster for, and whether the cluster's rules allow it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "job/experiment.hpp"
#include "job/profile.hpp"

namespace quorate {

struct Request {
    std::string name;    // of the job: letters, digits and ._+-
    std::string folder;  // of manifest, scripts, traces; absolute
    RunKind kind = RunKind::run;
    std::vector<std::int64_t> rows;  // of the manifest, ascending
    int ranks = 1, threads = 1;
    int nodes = 0;       // 0: the scheduler finds cores
    double seconds = 0;  // of one run
    double memory = 0;   // bytes of all ranks; 0: not known
    bool memory_given = false;
    int links = 1;  // jobs in a row that each run goes on over, if it must
    bool resilient = false, resumes = false;
    bool may_be_done = false;  // runs take --resume, which ends at once if all is done
    double stop_before = 300;
    std::string account, partition, mail, hostfile;
    std::string time_reason, memory_reason;  // comments in the script

    int cores() const { return ranks * threads; }
    /// Ranks of a node, if they are spread evenly.
    int per_node() const { return nodes > 0 ? (ranks + nodes - 1) / nodes : ranks; }
};

/// What is asked for where the user said nothing: whole nodes where the cluster has no other jobs, or
/// where the ranks fill one.
int nodes_for(const Profile& profile, int ranks, int threads);

struct Finding {
    bool error;        // the cluster would not take it; else it is a waste, or a risk
    std::string text;  // rule and remedy
};

/// Each rule that is broken. @param variable  of the environment
std::vector<Finding> check(const Request& request, const Profile& profile,
                           const std::function<std::string(const char*)>& variable);

}  // namespace quorate
