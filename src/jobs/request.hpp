// SPDX-License-Identifier: BSD-2-Clause
// The request of a job to a cluster, and a check of it against the cluster's rules.
#pragma once

#include <string>
#include <vector>

#include "jobs/experiment.hpp"
#include "jobs/profile.hpp"

namespace quorate {

/// What a job asks for. Times are seconds.
struct Request {
    std::string name;    // of the job: letters, digits and ._+-
    std::string folder;  // of manifest, scripts, traces; absolute
    RunKind kind = RunKind::run;
    std::vector<std::int64_t> rows;  // of the manifest, ascending
    int ranks = 1, threads = 1;
    int gpus_per_task = 0;
    int nodes = 0;              // 0: the scheduler finds cores anywhere
    double seconds = 0;         // of one run
    double memory = 0;          // bytes of all ranks; 0: not known
    bool memory_given = false;  // whether the user gave it
    int links = 1;              // jobs in a row over which a run may go on
    int workers = 0;            // of every run; 0: as the manifest says
    bool resilient = false, resumes = false;
    bool may_be_done = false;  // runs take --resume, which ends at once if all is done
    double stop_before = 300;  // as --stop-before
    std::string account, partition, mail, hostfile;
    std::string time_reason, memory_reason;  // comments in the script

    int cores() const { return ranks * threads; }
    /// Ranks of a node if they are spread evenly, rounded up.
    int per_node() const { return nodes > 0 ? (ranks + nodes - 1) / nodes : ranks; }
    /// Workers of the node with most of them. The coordinator, which has no work for a GPU, is on
    /// the first node.
    int workers_per_node() const;
};

/// Returns the number of nodes to ask for if the user gave none: whole nodes where the cluster has
/// no other jobs, where the ranks fill a node, or where GPUs are asked for by node; otherwise 0.
int nodes_for(const Profile& profile, const Request& request);

/// Returns the GPUs of a node to ask for where they are asked for by node: those of its workers, or
/// all that it has where jobs use full nodes.
int gpus_per_node(const Profile& profile, const Request& request);

/// A rule that a request breaks.
struct Finding {
    bool error;        // the cluster would refuse it; otherwise it is a waste or a risk
    std::string text;  // the rule and a remedy
};

/// Checks a request against the rules of a cluster.
/// Reads variables of the environment: account and folders.
/// @return each rule that is broken
std::vector<Finding> check(const Request& request, const Profile& profile);

}  // namespace quorate
