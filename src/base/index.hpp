// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace quorate {

/// Column numbers and row starts in memory: the width of PetscInt, so that PETSc can use the arrays
/// in place. The Makefile defines QUORATE_INDEX_64 for a PETSc with 64-bit indices.
#ifdef QUORATE_INDEX_64
using Index = std::int64_t;
#else
using Index = std::int32_t;
#endif

}  // namespace quorate
