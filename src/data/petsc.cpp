// SPDX-License-Identifier: BSD-2-Clause
#include "data/petsc.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace quorate::petsc {

void check(PetscErrorCode code, const char* call)
{
    if (code == 0) return;
    const char* text = nullptr;
    PetscErrorMessage(code, &text, nullptr);
    throw Failure(fmt::format("PETSc: {} failed: {}", call, text ? text : "unknown error"));
}

}  // namespace quorate::petsc
