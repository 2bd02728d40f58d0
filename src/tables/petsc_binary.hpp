// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "tables/source.hpp"

namespace quorate {

/// Whether a file that begins with these bytes (4 at least) begins with a PETSc binary matrix or
/// vector.
bool is_petsc(const std::string& bytes);

/// Reads the first vector of a PETSc binary file, which may hold other objects as well. Local.
/// @throws BadInput if the file cannot be opened, holds no PETSc vector, or is damaged
std::vector<double> read_petsc_vector(const std::string& path, const Reading& reading);

}  // namespace quorate
