// SPDX-License-Identifier: BSD-2-Clause
// Owners for PETSc objects, a check of PETSc's return values, and events for its -log_view. Local.
#pragma once

#include <petscmat.h>
#include <petscvec.h>

#include <utility>

#include "hdf5/libraries.hpp"

namespace quorate::petsc {

/// Turns an error code of PETSc into an exception. @param call  name of the function, for the
/// message
/// @throws Failure with what PETSc said, or its text for the code, if it is not 0
void check(PetscErrorCode code, const char* call);

/// Makes PETSc tell check() what is wrong in place of printing its call stack, until
/// PetscPopErrorHandler().
void keep_errors();

/// The kinds of work that PETSc's -log_view lists.
enum class Work { gradient, product, score };

/// Counts the time of its life for -log_view, if the user has asked for that; else costs nothing.
/// What threads do at the same time counts once.
class Logged {
public:
    explicit Logged(Work work);
    Logged(const Logged&) = delete;
    Logged& operator=(const Logged&) = delete;
    ~Logged();

private:
    PetscLogEvent event_ = -1;  // -1: nothing is logged
};

/// Move-only owner of a Mat or Vec.
template <class Object, PetscErrorCode (*Destroy)(Object*)>
class Owner {
public:
    Owner() = default;
    Owner(Owner&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Owner& operator=(Owner&& other) noexcept
    {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Owner()
    {
        if (!object_) return;
        const std::lock_guard lock(libraries());
        Destroy(&object_);
    }
    Object get() const { return object_; }
    /// Where a function of PETSc puts the object that it makes. Only while nothing is owned.
    Object* made() { return &object_; }

private:
    Object object_ = nullptr;
};

using Matrix = Owner<Mat, MatDestroy>;
using Vector = Owner<Vec, VecDestroy>;

}  // namespace quorate::petsc
