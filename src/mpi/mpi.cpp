// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "mpi/backoff.hpp"

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

Comm::Comm(MPI_Comm parent)
{
    // Where there are more ranks than cores, a blocking call of all ranks takes a third of a second,
    // because those that wait in it spin.
    Transfer made;
    check(MPI_Comm_idup(parent, &comm_, &made.request), "MPI_Comm_idup");
    for (Backoff backoff(1e-3); !made.done();) backoff.wait();
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

Comm::~Comm() { MPI_Comm_free(&comm_); }

std::shared_ptr<Bytes> Pool::take(std::size_t size)
{
    auto& free = shelf_->free;
    // Choose the smallest buffer that is large enough, or else the largest one, which then grows.
    const auto waste = [size](const std::unique_ptr<Bytes>& one) {
        const auto capacity = one->capacity();
        return std::pair(capacity < size, capacity < size ? size - capacity : capacity - size);
    };
    const auto best = std::ranges::min_element(free, {}, waste);
    std::unique_ptr<Bytes> bytes;
    if (best == free.end()) {
        bytes = std::make_unique<Bytes>();
    } else {
        bytes = std::move(*best);
        *best = std::move(free.back());
        free.pop_back();
    }
    bytes->resize(size);
    const auto give_back = [shelf = std::weak_ptr(shelf_)](Bytes* used) {
        std::unique_ptr<Bytes> owned(used);
        if (const auto home = shelf.lock()) home->free.push_back(std::move(owned));
    };
    return {bytes.release(), give_back};
}

bool Transfer::done()
{
    int flag = 1;
    if (request != MPI_REQUEST_NULL)
        check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    return flag != 0 && (!left || *left);
}

Transfer send(const Comm& comm, int to, Tag tag, std::shared_ptr<Bytes> bytes)
{
    if (bytes->size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw Failure(fmt::format("a message of {} bytes is more than MPI counts: use more workers",
                                  bytes->size()));
    Transfer transfer{MPI_REQUEST_NULL, std::move(bytes), to, tag};
    check(MPI_Isend(transfer.bytes->data(), static_cast<int>(transfer.bytes->size()), MPI_BYTE, to,
                    static_cast<int>(tag), comm.get(), &transfer.request),
          "MPI_Isend");
    return transfer;
}

std::optional<Transfer> receive(const Comm& comm, int from, Pool& pool)
{
    int flag = 0, size = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    // MPICH looks for a message before it makes progress. So a message that has just come is only
    // found at the second look.
    for (int look = 0; look < 2 && !flag; ++look)
        check(MPI_Improbe(from, MPI_ANY_TAG, comm.get(), &flag, &message, &status), "MPI_Improbe");
    if (!flag) return std::nullopt;
    check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
    Transfer transfer{MPI_REQUEST_NULL, pool.take(static_cast<std::size_t>(size)),
                      status.MPI_SOURCE, static_cast<Tag>(status.MPI_TAG)};
    check(MPI_Imrecv(transfer.bytes->data(), size, MPI_BYTE, &message, &transfer.request),
          "MPI_Imrecv");
    return transfer;
}

}  // namespace quorate::mpi
