// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <optional>

#include "mpi/backoff.hpp"
#include "mpi/channel.hpp"
#include "mpi/failure_detector.hpp"
#include "mpi/mpi.hpp"

namespace quorate {

/// Thrown on a worker when the coordinator is dead.
class Orphaned : public Failure {
public:
    using Failure::Failure;
};

/// A worker's messages to the coordinator, and those from there and from the leader of its node. At most
/// one is under way in each direction, and the answer to a ping. Local. All functions that speak to MPI throw mpi::Error if it fails.
class Mailbox {
public:
    /// @param comm, bells, channel  must outlive this object
    /// @param timeout  seconds of silence after which the coordinator is dead
    Mailbox(const mpi::Comm& comm, Doorbells& bells, Channel& channel, Seconds timeout);

    /// Receives all messages that have come, and answers pings. Never waits, unless `receive` does.
    /// @param receive  called with each message but pings; may call send()
    void poll(const std::function<void(const mpi::Transfer&)>& receive);
    /// Starts to send a message; waits first until the message before has left.
    /// @throws Orphaned if the coordinator dies meanwhile
    void send(mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes);
    /// Looks for messages of others than the coordinator too, where there is a channel. Without one
    /// they are always looked for.
    void listen_to_all() { listens_to_all_ = true; }
    /// Whether the last message may still be leaving: poll() has not found it gone yet.
    bool is_sending() const { return outgoing_.has_value(); }
    /// Waits until the last message has left. @throws Orphaned if the coordinator dies meanwhile
    void flush();
    /// Sleeps once (Backoff), for at most so many seconds; a message that comes ends the sleep
    /// early.
    /// @throws Orphaned if the coordinator is dead
    void wait(Seconds at_most = never);
    /// Lets the next wait begin with the shortest sleep, because something was done.
    void reset_backoff() { backoff_.reset(); }

    mpi::Pool& pool() { return pool_; }
    /// Seconds that the last contribution took to leave; 0: none has left yet. Measured up to the
    /// poll() that found it gone.
    Seconds send_seconds() const { return send_seconds_; }

private:
    std::optional<mpi::Transfer> next();
    void note_sent();

    const mpi::Comm& comm_;
    Doorbells& bells_;
    Channel& channel_;
    bool listens_to_all_ = false;
    mpi::Pool pool_;
    Backoff backoff_{1e-3, &bells_};
    FailureDetector detector_;  // of rank 0 only
    std::optional<mpi::Transfer> incoming_, outgoing_, pong_;
    Seconds checked_ = 0;  // when the coordinator was found alive last
    Seconds send_began_ = 0, send_seconds_ = 0;
};

}  // namespace quorate
