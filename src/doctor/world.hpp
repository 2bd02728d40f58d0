// SPDX-License-Identifier: BSD-2-Clause
// The ranks of a job look at themselves, and the coordinator asks them all.
#pragma once

#include <optional>
#include <vector>

#include "base/settings.hpp"
#include "doctor/facts.hpp"

namespace quorate {

/// Returns the options that say what a run would need.
std::vector<Option> doctor_options();

/// Finds out all that the judge needs, alone or over MPI. Collective over all processes that the
/// launcher started. Takes about a second; waits with sleep in between, and for no rank longer than
/// --timeout says: where something hangs, MPI or a file system, the process ends then with status 1
/// and says in what.
/// @param settings  with all of doctor_options()
/// @return the facts on the process that is to print them; nothing on the others
/// @throws BadInput if an option is wrong  @throws mpi::Error if MPI fails
std::optional<DoctorFacts> find_out(const Settings& settings);

}  // namespace quorate
