// SPDX-License-Identifier: BSD-2-Clause
#include "transport/mpi_endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

#include "base/drop_if.hpp"
#include "base/host.hpp"

namespace quorate::transport {

namespace {

// Longest sleep while a message is arriving: it needs a few more calls of MPI_Test.
constexpr Seconds soon = 20e-6;

int rank_in(MPI_Comm comm)
{
    int rank = 0;
    mpi::check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    return rank;
}

int size_of(MPI_Comm comm)
{
    int size = 1;
    mpi::check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    return size;
}

}  // namespace

MpiCommunicator::MpiCommunicator(MPI_Comm parent)
{
    // Where there are more ranks than cores, a blocking call of all ranks takes a third of a second,
    // because those that wait in it spin.
    MPI_Request made = MPI_REQUEST_NULL;
    mpi::check(MPI_Comm_idup(parent, &comm_, &made), "MPI_Comm_idup");
    Backoff backoff(1e-3);
    for (int done = 0;;) {
        mpi::check(MPI_Test(&made, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done) break;
        backoff.wait();
    }
    mpi::check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

MpiCommunicator::~MpiCommunicator() { MPI_Comm_free(&comm_); }

MpiEndpoint::MpiEndpoint(MPI_Comm parent, Seconds longest)
    : MpiCommunicator(parent), Endpoint(rank_in(get()), size_of(get()), host_name()),
      backoff_(longest), peers_(static_cast<std::size_t>(size()))
{
}

MpiEndpoint::~MpiEndpoint()
{
    if (!outgoing_.empty()) new (std::nothrow) auto(std::move(outgoing_));
    if (!incoming_.empty()) new (std::nothrow) auto(std::move(incoming_));
}

Ticket MpiEndpoint::send(int to, Tag tag, std::shared_ptr<Bytes> bytes)
{
    if (bytes->size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw Failure(fmt::format("a message of {} bytes is more than MPI counts: use more workers",
                                  bytes->size()));
    Outgoing one{MPI_REQUEST_NULL, std::move(bytes), to, std::make_shared<bool>(false)};
    const int code = MPI_Isend(one.bytes->data(), static_cast<int>(one.bytes->size()), MPI_BYTE, to,
                               static_cast<int>(tag), get(), &one.request);
    if (code != MPI_SUCCESS) {
        of(to).unreachable = true;
        return Ticket();
    }
    if (is_complete(one.request, to)) return Ticket();
    return Ticket(outgoing_.emplace_back(std::move(one)).left);
}

// Whether a request has completed. One that fails is complete, and its peer unreachable.
bool MpiEndpoint::is_complete(MPI_Request& request, int peer, bool* failed)
{
    int done = 0;
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) return done != 0;
    of(peer).unreachable = true;
    if (failed) *failed = true;
    return true;
}

bool MpiEndpoint::start_to_receive()
{
    int flag = 0, size = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    // MPICH looks for a message before it makes progress. So a message that has just come is only
    // found at the second look.
    for (int look = 0; look < 2 && !flag; ++look)
        mpi::check(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, get(), &flag, &message, &status),
                   "MPI_Improbe");
    if (!flag) return false;
    mpi::check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
    Incoming one{MPI_REQUEST_NULL,
                 {pool().take(static_cast<std::size_t>(size)), status.MPI_SOURCE,
                  static_cast<Tag>(status.MPI_TAG)}};
    mpi::check(MPI_Imrecv(one.message.bytes->data(), size, MPI_BYTE, &message, &one.request),
               "MPI_Imrecv");
    incoming_.push_back(std::move(one));
    return true;
}

void MpiEndpoint::advance()
{
    drop_if(outgoing_, [this](Outgoing& one) {
        if (!is_complete(one.request, one.to)) return false;
        *one.left = true;
        return true;
    });
    while (start_to_receive()) {
    }
    // A message stays behind those that its rank has sent before it and that are not whole yet.
    std::vector<int> unfinished;
    drop_if(incoming_, [&](Incoming& one) {
        const auto from = one.message.from;
        one.whole = one.whole || is_complete(one.request, from, &one.failed);
        if (!one.whole || std::ranges::count(unfinished, from) > 0) {
            unfinished.push_back(from);
            return false;
        }
        if (!one.failed) ready_.push_back(std::move(one.message));
        return true;
    });
}

void MpiEndpoint::wait(Seconds at_most)
{
    backoff_.wait(is_receiving() ? std::min(at_most, soon) : at_most);
}

bool MpiEndpoint::is_sending() const
{
    return std::ranges::any_of(outgoing_,
                               [this](const Outgoing& one) { return !of(one.to).forsaken; });
}

bool MpiEndpoint::is_receiving() const
{
    return std::ranges::any_of(
        incoming_, [this](const Incoming& one) { return !of(one.message.from).forsaken; });
}

void MpiEndpoint::forsake(int rank) { of(rank).forsaken = true; }

void MpiEndpoint::die()
{
    std::raise(SIGKILL);
    std::abort();  // never comes here
}

}  // namespace quorate::transport
