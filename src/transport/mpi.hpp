// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mpi.h>

#include "base/error.hpp"

namespace quorate::mpi {

/// Thrown when a call of MPI fails. Other ranks may be out of reach then.
class Error : public Failure {
public:
    using Failure::Failure;
};

/// Turns an error code of MPI into an exception.
/// @param call  name of the MPI function, for the message
/// @throws Error with MPI's text if code is not MPI_SUCCESS
void check(int code, const char* call);

/// Waits until a request is complete. Sleeps between looks, because MPI_Wait would spin.
/// @throws Error if MPI fails
void complete(MPI_Request request);

}  // namespace quorate::mpi
