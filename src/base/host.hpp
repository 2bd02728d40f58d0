// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

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

/// Returns "3 MB", or "1.2 GB" from a gigabyte on.
std::string size_text(double bytes);
/// Refuses work for which this process cannot have the memory, before the system kills it.
/// @param work  subject of the sentence, such as "the simulation"
/// @throws BadInput with the bytes
void need_memory(double bytes, const std::string& work);

/// Whether a process of this host has ended, and also if nobody has waited for it yet. Reads a
/// small file of the system.
bool has_ended(pid_t process);

/// Returns the value of an environment variable; empty if it is not set.
std::string environment(const char* name);

}  // namespace quorate
