// SPDX-License-Identifier: BSD-2-Clause
// Wraps the part of MPI that Quorate uses: nonblocking point-to-point messages of bytes, matched
// probes and a duplicated communicator. Only calls of MPI-3.1.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/seconds.hpp"

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

/// The kind of a message, sent as its MPI tag. The comments name the sender first.
enum class Tag : int {
    hello = 1,     // start-up, to the coordinator: the rank's host and plugins
    join_reply,    // start-up, from the coordinator: whether to go on, and as which worker
    ready,         // worker: its shard is loaded; support, rows, host
    task,          // coordinator: see messages.hpp
    cancel,        // coordinator: drop tasks up to the one named
    contribution,  // worker: one or more parts of a task
    evaluate,      // coordinator: the rows to score after the run
    score,         // coordinator: models to score
    scores,        // worker: losses and scores of these models
    stop,          // coordinator: the end of the run
    farewell,      // worker: its last message, the answer to `stop`
    assign,        // coordinator: which worker of which coding the rank is from now on
    count,         // coordinator: how many tasks the worker has done that its own count keys
    ping,          // coordinator: are you there?
    pong,          // worker: the answer to a ping
    leaving,       // worker: it leaves the run, because a signal asked it to
    die,           // coordinator: the rank is to kill itself, a planned death
    // Of aggregation by node, see node_messages.hpp:
    peers,        // coordinator: the workers of the rank's node
    met,          // worker: whether it can read what these write
    keep,         // coordinator: contributions stay at the worker until a sum needs them
    lead,         // coordinator: the rank leads its node; supports
    point_piece,  // coordinator, to a leader: some numbers of a point
    node_point,   // coordinator, to a leader: it is to hand out a point that it has
    delivery,     // leader: where a point for a task lies
    release,      // coordinator, to a leader: contributions that are needed no more
    sum,          // coordinator, to a leader: contributions to add up
    sum_answer,   // leader: their sum
};

/// Owns a duplicate of a communicator, so that Quorate's messages never mix with those of others.
/// MPI returns errors on it instead of ending the program. It must be destroyed before
/// MPI_Finalize.
class Comm {
public:
    /// Duplicates `parent`. Collective on `parent`. @throws Error if MPI fails
    explicit Comm(MPI_Comm parent);
    Comm(const Comm&) = delete;
    Comm& operator=(const Comm&) = delete;
    /// Frees the duplicate. Collective, as MPI_Comm_free is.
    ~Comm();
    MPI_Comm get() const { return comm_; }
    int rank() const { return rank_; }
    int size() const { return size_; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 0;
};

/// The bytes of a message, aligned for doubles. New memory is not set to zero.
class Bytes {
public:
    Bytes() = default;
    explicit Bytes(std::size_t size) { resize(size); }
    /// Sets the number of bytes. Takes new memory only if the old is too small, and then the
    /// contents are lost.
    void resize(std::size_t size)
    {
        if (size > capacity_) {
            memory_ = std::make_unique_for_overwrite<double[]>((size + sizeof(double) - 1) /
                                                               sizeof(double));
            capacity_ = size;
        }
        size_ = size;
    }
    std::byte* data() { return reinterpret_cast<std::byte*>(memory_.get()); }
    const std::byte* data() const { return reinterpret_cast<const std::byte*>(memory_.get()); }
    std::size_t size() const { return size_; }
    /// Bytes that fit without new memory.
    std::size_t capacity() const { return capacity_; }

private:
    std::unique_ptr<double[]> memory_;
    std::size_t size_ = 0, capacity_ = 0;
};

/// Message buffers that are used again, because fresh memory costs a page fault every 4 KiB. Not
/// safe for several threads.
class Pool {
public:
    /// Takes a buffer of `size` bytes with any contents: the smallest free one that is large
    /// enough, or else the largest free one, which grows. It returns to the pool when its last
    /// owner releases it; if the pool no longer exists, it is deleted. O(free buffers).
    std::shared_ptr<Bytes> take(std::size_t size);

private:
    struct Shelf {
        std::vector<std::unique_ptr<Bytes>> free;
    };
    std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

/// A send or a receive under way, with its buffer. The transfer must live until it is done(),
/// because MPI works on the buffer until then.
struct Transfer {
    MPI_Request request = MPI_REQUEST_NULL;
    std::shared_ptr<Bytes> bytes;
    int peer = 0;  // the other rank
    Tag tag{};
    // Set by MpiFleet: the peer is gone, and the bytes must not be read; and the values that a
    // contribution has in shared memory, null if only the leader of its node reads them. Their last
    // owner gives them back.
    bool failed = false;
    std::shared_ptr<const double> values = {};
    // Set by Channel: whether it found room, null: it did; and of one received, when it was sent.
    std::shared_ptr<const bool> left = {};
    Seconds sent = 0;

    /// Whether it has completed (MPI_Test). Local; may be called again after that.
    /// @throws Error if MPI fails
    bool done();
};

/// Starts to send all of `bytes`. Local; never waits. Several sends may share a buffer, which
/// nobody may change before they are all done.
/// @throws Error if MPI fails  @throws Failure if the message has more than 2^31 - 1 bytes
Transfer send(const Comm& comm, int to, Tag tag, std::shared_ptr<Bytes> bytes);

/// Starts to receive the next message, if one has come. Local; never waits. The bytes may be read
/// when the transfer is done().
/// @param from  a rank, or MPI_ANY_SOURCE
/// @return nullopt if no message has come
/// @throws Error if MPI fails
std::optional<Transfer> receive(const Comm& comm, int from, Pool& pool);

}  // namespace quorate::mpi
