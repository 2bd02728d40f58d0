// SPDX-License-Identifier: BSD-2-Clause
// Messages by MPI: nonblocking point-to-point messages of bytes, matched probes and a duplicated
// communicator. Only calls of MPI-3.1.
#pragma once

#include <boost/container/small_vector.hpp>
#include <deque>
#include <vector>

#include "transport/backoff.hpp"
#include "transport/endpoint.hpp"
#include "transport/mpi.hpp"

namespace quorate::transport {

/// A duplicate of a communicator, so that Quorate's messages never mix with those of others. MPI
/// returns errors on it instead of ending the program. To be destroyed before MPI_Finalize.
class MpiCommunicator {
public:
    /// Collective on `parent`, without spinning. @throws mpi::Error if MPI fails
    explicit MpiCommunicator(MPI_Comm parent);
    MpiCommunicator(const MpiCommunicator&) = delete;
    MpiCommunicator& operator=(const MpiCommunicator&) = delete;
    /// Collective, as MPI_Comm_free is.
    ~MpiCommunicator();
    MPI_Comm get() const { return comm_; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// The endpoint of a rank of MPI. It polls: a message wakes nobody.
class MpiEndpoint final : private MpiCommunicator, public Endpoint {
public:
    /// Collective on `parent`. @throws mpi::Error if MPI fails
    /// @param longest  sleep of a wait, seconds
    /// @param piece    bytes; longer messages travel in pieces, of so many or more. MPI sends a
    ///                 short one at once, where it asks the receiver before it sends a long one
    explicit MpiEndpoint(MPI_Comm parent = MPI_COMM_WORLD, Seconds longest = 1e-3,
                         std::size_t piece = std::size_t{16} << 10);
    /// What is still under way to or from a rank that has died keeps its memory: MPI may use it at
    /// any time.
    ~MpiEndpoint() override;

    /// An error of MPI in a message to a rank makes that rank unreachable and is not thrown.
    Ticket send(int to, Tag tag, std::shared_ptr<Bytes> bytes) override;
    void ring() override {}
    bool wakes() const override { return false; }
    /// @throws mpi::Error if MPI fails, and not in a message with a certain rank
    void advance() override;
    void wait(Seconds at_most = never) override { backoff_.wait(at_most); }
    void restart_wait() override { backoff_.reset(); }
    void interrupt() override {}
    bool is_sending() const override;
    bool is_receiving() const override;
    void forsake(int rank) override;
    void expect(int rank) override { of(rank).forsaken = false; }
    bool has_ended(int) const override { return false; }
    bool is_unreachable(int rank) const override { return of(rank).unreachable; }
    [[noreturn]] void die() override;

private:
    using Requests = boost::container::small_vector<MPI_Request, 1>;  // of the pieces of a message
    struct Outgoing {
        Requests requests;
        std::shared_ptr<Bytes> bytes;
        int to;
        std::shared_ptr<bool> left;
    };
    struct Incoming {
        Requests requests;
        Message message;
        std::size_t announced = 0;  // bytes of the pieces that have been received or begun
        bool all_begun = false;     // whether this is so of all pieces
        bool whole = false, failed = false;
    };
    struct Peer {
        bool unreachable = false, forsaken = false;
    };
    Peer& of(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
    const Peer& of(int rank) const { return peers_[static_cast<std::size_t>(rank)]; }
    std::size_t piece_of(std::size_t size) const;
    bool is_complete(Requests& requests, int peer, bool* failed = nullptr);
    bool start_to_receive();
    Incoming& unfinished(int from, int tag, std::size_t size);

    std::size_t piece_;
    Backoff backoff_;
    std::vector<Peer> peers_;
    std::vector<Outgoing> outgoing_;
    std::deque<Incoming> incoming_;
};

}  // namespace quorate::transport
