// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "data/source.hpp"

namespace quorate {

/// Whether a file that begins so is a PETSc binary vector.
bool is_petsc_vector(const std::string& bytes);

/// @throws BadInput if the file is none, or damaged
std::vector<double> read_petsc_vector(const std::string& path, const Reading& reading);

}  // namespace quorate
