// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "data/source.hpp"

namespace quorate {

/// Whether a file that begins with these bytes (4 at least) is a PETSc binary vector.
bool is_petsc_vector(const std::string& bytes);

/// Reads a PETSc binary vector. Local.
/// @throws BadInput if the file cannot be opened, is no PETSc vector, or is damaged
std::vector<double> read_petsc_vector(const std::string& path, const Reading& reading);

}  // namespace quorate
