// SPDX-License-Identifier: BSD-2-Clause
// Owners for PETSc objects, and the check of its return values.
#pragma once

#include <petscmat.h>
#include <petscvec.h>

#include <utility>

namespace quorate::petsc {

/// @throws Failure with PETSc's own text for the code
void check(PetscErrorCode code, const char* call);

/// Move-only owner of a Mat or Vec.
template <class Object, PetscErrorCode (*Destroy)(Object*)>
class Owner {
public:
    explicit Owner(Object object) : object_(object) {}
    Owner(Owner&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Owner& operator=(Owner&& other) noexcept
    {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Owner()
    {
        if (object_) Destroy(&object_);
    }
    Object get() const { return object_; }

private:
    Object object_;
};

using Matrix = Owner<Mat, MatDestroy>;
using Vector = Owner<Vec, VecDestroy>;

}  // namespace quorate::petsc
