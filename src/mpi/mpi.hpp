// SPDX-License-Identifier: BSD-2-Clause
// The little of MPI that Quorate uses: nonblocking messages of bytes, matched probes, a communicator
// of its own. MPI-3.1 calls only.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace quorate::mpi {

/// A call of MPI failed: other ranks may be out of reach.
class Error : public Failure {
public:
    using Failure::Failure;
};

/// @throws Error with MPI's text if code is not MPI_SUCCESS
void check(int code, const char* call);

enum class Tag : int {
    hello = 1,     // start-up, to the coordinator: the rank's host
    join_reply,    // start-up, from the coordinator: whether to go on, and as which worker
    ready,         // worker: its shard is loaded; support, rows, host
    task,          // coordinator: see messages.hpp
    cancel,        // coordinator: drop tasks up to the one named
    contribution,  // worker: one or more parts of a task
    evaluate,      // coordinator: the rows to score
    score,         // coordinator: models to score
    scores,        // worker: losses and scores
    stop,          // coordinator: the end
    farewell,      // worker: its last message
    assign,        // coordinator: which worker of which coding the rank is from now on
    count,         // coordinator: how many tasks the worker has done that its own count keys
    ping,          // coordinator: are you there?
    pong,          // the answer
    leaving,       // worker: with notice
    die,           // coordinator: a death that was asked for
};

/// A duplicate of a communicator, with errors returned, so that Quorate's messages never meet others.
class Comm {
public:
    /// Collective on `parent`.
    explicit Comm(MPI_Comm parent);
    Comm(const Comm&) = delete;
    Comm& operator=(const Comm&) = delete;
    ~Comm();
    MPI_Comm get() const { return comm_; }
    int rank() const { return rank_; }
    int size() const { return size_; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 0;
};

/// Bytes of a message, aligned for doubles; not set to zero when made.
class Bytes {
public:
    Bytes() = default;
    explicit Bytes(std::size_t size) { resize(size); }
    /// Keeps its memory if that suffices; contents are lost.
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
    std::size_t capacity() const { return capacity_; }

private:
    std::unique_ptr<double[]> memory_;
    std::size_t size_ = 0, capacity_ = 0;
};

/// Message buffers that are used again: fresh memory costs a page fault every 4 KiB.
/// A buffer returns to its pool when its last owner lets go; the pool may be gone by then.
class Pool {
public:
    std::shared_ptr<Bytes> take(std::size_t size);

private:
    struct Shelf {
        std::vector<std::unique_ptr<Bytes>> free;
    };
    std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

/// A send or receive under way, with the buffer it works on: a request owns its buffer until it
/// completes.
struct Transfer {
    MPI_Request request = MPI_REQUEST_NULL;
    std::shared_ptr<Bytes> bytes;
    int peer = 0;
    Tag tag{};
    bool failed = false;  // the peer is gone; the bytes are not to be looked at

    /// Whether it has completed. Local.
    bool done();
};

/// Starts to send all of `bytes`. Local.
Transfer send(const Comm& comm, int to, Tag tag, std::shared_ptr<Bytes> bytes);

/// Starts to receive the next message from `from` (or MPI_ANY_SOURCE), if there is one. Local.
std::optional<Transfer> receive(const Comm& comm, int from, Pool& pool);

}  // namespace quorate::mpi
