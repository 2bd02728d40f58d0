// SPDX-License-Identifier: BSD-2-Clause
// What a job script must know of one cluster: slurm/NAME.ini, described in docs/clusters.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace quorate {

enum class Scheduler { slurm, openpbs, torque, hosts };
enum class MemoryRequest { none, per_node, per_core, all };
enum class Account { required, recommended, optional };

struct Profile {
    std::string name, path, summary;
    Scheduler scheduler = Scheduler::slurm;
    std::optional<int> nodes, cores, nodes_most, jobs_most, array_most, cores_per_cache;
    std::optional<double> memory;                        // bytes of a node
    std::optional<double> time_least, time_most, purge;  // seconds
    std::vector<double> time_classes;                    // seconds, ascending
    MemoryRequest memory_request = MemoryRequest::none;
    bool whole_nodes = false;
    std::optional<bool> internet;
    Account account = Account::optional;
    std::string partition, directives, modules, preload, mpi, launcher, binding, keep_going,
        scratch, read_only, instructions;
};

/// @param cluster  a name, or the path of a file of the user's own
/// @throws BadInput with the nearest names, or with file and line of what is wrong
Profile read_profile(const std::string& cluster);

/// All that come with the program, by name.
std::vector<Profile> profiles();

}  // namespace quorate
