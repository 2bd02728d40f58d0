// SPDX-License-Identifier: BSD-2-Clause
// Machines without a scheduler, which reach each other by ssh.
#pragma once

#include <string>
#include <vector>

#include "job/request.hpp"

namespace quorate {

/// Reads the names or addresses of a file with one host a line. What follows a colon, such as the
/// number of ranks in "host:4", is for the launcher and is left out.
/// @throws BadInput if the file cannot be read, names no host, or has a line that is none
std::vector<std::string> read_hosts(const std::string& path);

/// Checks each host: that ssh works without a password, that it has the same program at the same
/// path, the launcher, and readable data. Starts ssh several times a host, one after the other.
/// @param data  files that must be readable
/// @return a finding for each fault
std::vector<Finding> check_hosts(const std::vector<std::string>& hosts,
                                 const std::vector<std::string>& data);

}  // namespace quorate
