// SPDX-License-Identifier: BSD-2-Clause
// What this program was built for, as `make info` prints it.
#pragma once

#include <string>

namespace quorate {

/// Returns the MPI: mpich or openmpi.
std::string built_mpi();
/// Returns the instruction set of -march, such as x86-64-v3; empty if the flags do not say.
std::string built_instructions();
/// Whether this machine has that instruction set; true for sets that it does not know.
bool has_built_instructions();

}  // namespace quorate
