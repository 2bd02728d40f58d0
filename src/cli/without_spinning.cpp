// SPDX-License-Identifier: BSD-2-Clause
// Replaces the blocking calls of MPI that PETSc makes in its loops by calls that do not spin. Where
// there are more ranks than cores, a rank that spins takes the core from the rank it waits for. MPI
// lets a program define MPI_X itself and reach the library's function as PMPI_X (MPI-3.1, section
// 14.2).
// Only the program `quorate` has this, whose definitions come first for the dynamic linker: in a
// user's program that links libquorate, all calls of MPI stay what they are.
#include <mpi.h>
#include <sched.h>

#include "transport/backoff.hpp"

namespace {

int wait_for_all(int count, MPI_Request* requests, MPI_Status* statuses)
{
    // Solvers wait for each other several times in a millisecond. Most waits are shorter than the
    // shortest sleep, so the first thousand looks only yield the core.
    constexpr int yields = 1000;
    quorate::Backoff backoff(1e-3);
    for (int looks = 0, done = 0;; ++looks) {
        const int code = PMPI_Testall(count, requests, &done, statuses);
        if (done || code != MPI_SUCCESS) return code;
        if (looks < yields)
            sched_yield();
        else
            backoff.wait();
    }
}

}  // namespace

extern "C" int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm)
{
    int size = 1;
    PMPI_Comm_size(comm, &size);
    if (size == 1) return PMPI_Allreduce(from, to, count, type, op, comm);
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = PMPI_Iallreduce(from, to, count, type, op, comm, &request);
    return code == MPI_SUCCESS ? wait_for_all(1, &request, MPI_STATUSES_IGNORE) : code;
}

extern "C" int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses)
{
    return wait_for_all(count, requests, statuses);
}
