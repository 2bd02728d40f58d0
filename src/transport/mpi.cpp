// SPDX-License-Identifier: BSD-2-Clause
#include "transport/mpi.hpp"

#include <fmt/format.h>

#include <string>

#include "transport/backoff.hpp"

namespace quorate::mpi {

void check(int code, const char* call)
{
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw Error(fmt::format("MPI: {} failed: {}", call,
                            std::string(text, static_cast<std::size_t>(length))));
}

void complete(MPI_Request request)
{
    Backoff backoff(1e-3);
    for (int done = 0;; backoff.wait()) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done) return;
    }
}

}  // namespace quorate::mpi
