// SPDX-License-Identifier: BSD-2-Clause
// What a rank finds out about itself and its host, by itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "doctor/facts.hpp"

namespace quorate {

/// Reads what the system says of this process and its host; not yet: rank, shares, files. Local.
/// Reads small files of /proc and /sys.
RankFacts look_at_host();

/// Has look_at_torch() ask a function, which Python gives.
/// @param look  returns the JSON of TorchFacts; throws nothing
void look_at_torch_with(std::function<std::string()> look);

/// Asks PyTorch, if Python runs the program. Local. To be called when MPI has started, because
/// workers choose their GPUs by rank.
TorchFacts look_at_torch();

/// Tries a file that runs read: opens it. Local.
/// @param option  that names it, for the judge
FileFacts try_reading(const std::string& option, const std::string& path);

/// Tries a file that runs write: makes one beside it, flushes and removes it. Local.
FileFacts try_writing(const std::string& option, const std::string& path);

/// The launcher of the MPI that the program was built with.
std::string own_launcher();

/// Looks for launchers of MPI in the PATH and asks each for its version. Local. Starts processes,
/// so it is to be called before MPI is started.
std::vector<LauncherFacts> launchers_in_path();

/// Reads the wall clock, in seconds.
double wall_clock();

/// Counts the files that this process has open; -1: not known.
std::int64_t count_open_files();

}  // namespace quorate
