// SPDX-License-Identifier: BSD-2-Clause
#include "transport/mpi_endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/drop_if.hpp"
#include "base/host.hpp"

namespace quorate::transport {

namespace {

// The tags of pieces but the last, which has that of its message: this one and the number of pieces
// that are to come.
constexpr int first_of_pieces = 1000;

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
    // Where there are more ranks than cores, a blocking call of all ranks takes a third of a
    // second, because those that wait in it spin.
    MPI_Request made = MPI_REQUEST_NULL;
    mpi::check(MPI_Comm_idup(parent, &comm_, &made), "MPI_Comm_idup");
    mpi::complete(made);
    mpi::check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

MpiCommunicator::~MpiCommunicator() { MPI_Comm_free(&comm_); }

MpiEndpoint::MpiEndpoint(MPI_Comm parent, Seconds longest, std::size_t piece)
    : MpiCommunicator(parent), Endpoint(rank_in(get()), size_of(get()), host_name()), piece_(piece),
      backoff_(longest), peers_(static_cast<std::size_t>(size()))
{
}

MpiEndpoint::~MpiEndpoint()
{
    if (!outgoing_.empty()) new (std::nothrow) auto(std::move(outgoing_));
    if (!incoming_.empty()) new (std::nothrow) auto(std::move(incoming_));
}

// Returns how long the pieces of a message are. There are 64 at most, because each costs a look,
// unless MPI's counts are too short.
std::size_t MpiEndpoint::piece_of(std::size_t size) const
{
    constexpr std::size_t longest = std::size_t{1} << 30;
    return std::min(longest, std::max(piece_, size / 64 + 1));
}

Ticket MpiEndpoint::send(int to, Tag tag, std::shared_ptr<Bytes> bytes)
{
    Outgoing one{{}, std::move(bytes), to, std::make_shared<bool>(false)};
    const auto piece = piece_of(one.bytes->size());
    std::size_t at = 0;
    for (auto left = 1 + (std::max<std::size_t>(1, one.bytes->size()) - 1) / piece; left > 0;
         --left) {
        const auto size = std::min(piece, one.bytes->size() - at);
        // A long message has left when its receiver takes the end: until then it is under way, and
        // whoever sends may prefer others.
        const auto send = left == 1 && at > 0 ? MPI_Issend : MPI_Isend;
        const int code =
            send(one.bytes->data() + at, static_cast<int>(size), MPI_BYTE, to,
                 left > 1 ? first_of_pieces + static_cast<int>(left - 1) : static_cast<int>(tag),
                 get(), &one.requests.emplace_back(MPI_REQUEST_NULL));
        if (code != MPI_SUCCESS) {
            of(to).unreachable = true;
            break;
        }
        at += size;
    }
    if (is_complete(one.requests, to)) return Ticket();
    return Ticket(outgoing_.emplace_back(std::move(one)).left);
}

// Whether requests have completed. One that fails is complete, and its peer unreachable.
bool MpiEndpoint::is_complete(Requests& requests, int peer, bool* failed)
{
    drop_if(requests, [&](MPI_Request& request) {
        int done = 0;
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS) return done != 0;
        of(peer).unreachable = true;
        if (failed) *failed = true;
        return true;
    });
    return requests.empty();
}

// The message of which a piece has come, with room for it.
MpiEndpoint::Incoming& MpiEndpoint::unfinished(int from, int tag, std::size_t size)
{
    const auto begun = std::ranges::find_if(
        incoming_, [&](const Incoming& one) { return one.message.from == from && !one.all_begun; });
    if (begun != incoming_.end()) return *begun;
    const auto pieces =
        tag > first_of_pieces ? static_cast<std::size_t>(tag - first_of_pieces) + 1 : 1;
    auto& one = incoming_.emplace_back();
    one.message = {pool().take(pieces * size), from, Tag{}};
    return one;
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
    backoff_.reset();  // it needs a few more calls of MPI_Test
    mpi::check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
    const auto bytes = static_cast<std::size_t>(size);
    auto& one = unfinished(status.MPI_SOURCE, status.MPI_TAG, bytes);
    mpi::check(MPI_Imrecv(one.message.bytes->data() + one.announced, size, MPI_BYTE, &message,
                          &one.requests.emplace_back(MPI_REQUEST_NULL)),
               "MPI_Imrecv");
    one.announced += bytes;
    one.all_begun = status.MPI_TAG < first_of_pieces;
    if (!one.all_begun) return true;
    one.message.tag = static_cast<Tag>(status.MPI_TAG);
    one.message.bytes->resize(one.announced);
    return true;
}

void MpiEndpoint::advance()
{
    drop_if(outgoing_, [this](Outgoing& one) {
        const auto before = one.requests.size();
        const bool left = is_complete(one.requests, one.to);
        if (one.requests.size() < before) backoff_.reset();
        if (!left) return false;
        *one.left = true;
        return true;
    });
    while (start_to_receive()) {
    }
    // A message stays behind those that its rank has sent before it and that are not whole yet.
    std::vector<int> unfinished;
    drop_if(incoming_, [&](Incoming& one) {
        const auto from = one.message.from;
        one.whole = one.whole || (is_complete(one.requests, from, &one.failed) && one.all_begun);
        if (!one.whole || std::ranges::count(unfinished, from) > 0) {
            unfinished.push_back(from);
            return false;
        }
        if (!one.failed) ready_.push_back(std::move(one.message));
        return true;
    });
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
