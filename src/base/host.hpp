// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace quorate {

/// The machine that this process runs on: SLURM's name of the node, else the system's.
std::string host_name();

}  // namespace quorate
