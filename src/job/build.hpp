// SPDX-License-Identifier: BSD-2-Clause
// What this program was built for, as `make info` has it.
#pragma once

#include <string>

namespace quorate {

/// The MPI: mpich or openmpi.
std::string built_mpi();
/// The least instruction set: x86-64-v3; empty if the flags do not say.
std::string built_instructions();
/// Whether this machine has it.
bool has_built_instructions();

}  // namespace quorate
