// SPDX-License-Identifier: BSD-2-Clause
// Machines without a scheduler, that reach each other by ssh.
#pragma once

#include <string>
#include <vector>

#include "job/request.hpp"

namespace quorate {

/// Names or addresses of a file with one a line; ":4" behind one, for so many ranks, is the launcher's.
/// @throws BadInput
std::vector<std::string> read_hosts(const std::string& path);

/// Tries ssh, the same program and launcher, and readable data on each host. One line a fault.
/// @param data  files
std::vector<Finding> check_hosts(const std::vector<std::string>& hosts,
                                 const std::vector<std::string>& data);

}  // namespace quorate
