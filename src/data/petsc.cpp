// SPDX-License-Identifier: BSD-2-Clause
#include "data/petsc.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

#include "base/error.hpp"

namespace quorate::petsc {

namespace {

std::string last_error;  // what PETSc has said; under libraries()

PetscErrorCode remember(MPI_Comm, int, const char*, const char*, PetscErrorCode code,
                        PetscErrorType type, const char* message, void*)
{
    if (type == PETSC_ERROR_INITIAL) last_error = message ? message : "";
    return code;
}

PetscLogEvent event_of(Work work)
{
    static std::map<Work, PetscLogEvent> events;
    static const std::map<Work, const char*> names = {{Work::gradient, "QuorateGradient"},
                                                      {Work::product, "QuorateProduct"},
                                                      {Work::score, "QuorateScore"}};
    check(MatInitializePackage(), "MatInitializePackage");
    if (!events.contains(work))
        check(PetscLogEventRegister(names.at(work), MAT_CLASSID, &events[work]),
              "PetscLogEventRegister");
    return events.at(work);
}

}  // namespace

void check(PetscErrorCode code, const char* call)
{
    if (code == 0) return;
    const char* text = nullptr;
    PetscErrorMessage(code, &text, nullptr);
    const std::lock_guard lock(libraries());
    const auto said = std::exchange(last_error, "");
    throw Failure(fmt::format("PETSc: {} failed: {}", call,
                              !said.empty() ? said
                              : text        ? text
                                            : "unknown error"));
}

void keep_errors() { check(PetscPushErrorHandler(remember, nullptr), "PetscPushErrorHandler"); }

Logged::Logged(Work work)
{
    if (!PetscLogPLB) return;
    const std::lock_guard lock(libraries());
    event_ = event_of(work);
    PetscLogEventBegin(event_, nullptr, nullptr, nullptr, nullptr);
}

Logged::~Logged()
{
    if (event_ < 0) return;
    const std::lock_guard lock(libraries());
    PetscLogEventEnd(event_, nullptr, nullptr, nullptr, nullptr);
}

}  // namespace quorate::petsc
