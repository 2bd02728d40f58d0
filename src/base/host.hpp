// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

namespace quorate {

/// The machine that this process runs on: SLURM's name of the node, else the system's.
std::string host_name();

/// Bytes of memory that the machine has.
std::int64_t host_memory();
/// Bytes of memory that this process may still take: what the machine has available, or what the
/// limits of its control groups leave. Reads a few small files of the system.
std::int64_t free_memory();

/// Returns the value of an environment variable; empty if it is not set.
std::string environment(const char* name);

}  // namespace quorate
