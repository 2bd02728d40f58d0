// SPDX-License-Identifier: BSD-2-Clause
// Machines without a scheduler, which reach each other by ssh.
#pragma once

#include <string>
#include <vector>

#include "jobs/request.hpp"

namespace quorate {

/// A host, and how many ranks may be there; 0: the file does not say.
struct Host {
    std::string name;
    int slots = 0;
    std::string of_hydra = {};  // what else Hydra reads there: user=NAME, binding=HOW
};

/// The hosts of a file.
struct Hosts {
    std::vector<Host> all;
    bool for_hydra = true,
         for_open_mpi = true;  // whether these launchers read the file as it stands
};

/// Reads a file with one host a line, and what may stand behind it: the number of its ranks, as
/// Hydra (HOST:4) and Open MPI (HOST slots=4) write it, Open MPI's max_slots, and Hydra's own
/// words.
/// @throws BadInput if the file cannot be read, names no host, or has a line that is none
Hosts read_hosts(const std::string& path);

/// Returns the text of a file that a launcher reads, with the same hosts and ranks in their order.
/// @param mpi  mpich or openmpi
/// @throws BadInput for words that are Hydra's, if that is not the launcher
std::string hosts_text(const Hosts& hosts, const std::string& mpi);

/// Checks each host: that ssh works without a password, that it has the same program at the same
/// path, the launcher, and readable data. Starts ssh several times a host, one after the other.
/// @param data  files that must be readable
/// @return a finding for each fault
std::vector<Finding> check_hosts(const std::vector<Host>& hosts,
                                 const std::vector<std::string>& data);

}  // namespace quorate
