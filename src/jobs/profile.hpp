// SPDX-License-Identifier: BSD-2-Clause
// Cluster profiles: what a job script must know of a cluster. They are the files slurm/NAME.ini,
// which docs/add-cluster.md describes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quorate {

enum class Scheduler { slurm, openpbs, torque, hosts };
/// Returns the words for them.
const std::map<std::string, Scheduler>& schedulers();
enum class MemoryRequest { none, per_node, per_core, all };
enum class GpuRequest { none, per_task, per_node };
enum class Account { required, recommended, optional };

/// A profile. Values that are not set are not known or not limited.
struct Profile {
    std::string name, path, summary;
    Scheduler scheduler = Scheduler::slurm;
    std::optional<int> nodes, cores, nodes_most, jobs_most, array_most, cores_per_cache, gpus;
    std::optional<double> memory;                        // bytes of a node
    std::optional<double> time_least, time_most, purge;  // seconds
    std::vector<double> time_classes;                    // seconds, ascending
    MemoryRequest memory_request = MemoryRequest::none;
    GpuRequest gpu_request = GpuRequest::none;
    bool whole_nodes = false;
    bool tried = true;    // runs of Quorate were made there
    std::string retired;  // the name of the machine in its place; empty: it is in use
    std::optional<bool> internet;
    Account account = Account::optional;
    std::string partition, directives, modules, preload, mpi, launcher, binding, keep_going,
        scratch, read_only, instructions;
};

/// Reads a profile.
/// @param cluster  its name, or the path of the user's own file
/// @throws BadInput with the nearest names, or with file and line of what is wrong
Profile read_profile(const std::string& cluster);

/// Reads all profiles that come with the program, in the order of their names.
std::vector<Profile> profiles();

}  // namespace quorate
