// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <optional>

#include "mpi/backoff.hpp"
#include "mpi/failure_detector.hpp"
#include "mpi/mpi.hpp"

namespace quorate {

/// The coordinator is gone.
class Orphaned : public Failure {
public:
    using Failure::Failure;
};

/// A worker's messages from and to the coordinator: at most one is under way each way. Answers pings. Local.
class Mailbox {
public:
    /// @param timeout  seconds of silence after which the coordinator is dead
    Mailbox(const mpi::Comm& comm, Doorbells& bells, Seconds timeout);

    /// Receives what has come.
    /// @param receive  called with each message but pings
    void poll(const std::function<void(const mpi::Transfer&)>& receive);
    /// Sends, once the message before is out. @throws Orphaned
    void send(mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes);
    /// Whether the last message is not yet out, as poll() or send() found.
    bool is_sending() const { return outgoing_.has_value(); }
    /// Waits until the last message is out. @throws Orphaned
    void flush();
    /// Sleeps until a message may have come, or for so many seconds at most. @throws Orphaned
    void wait(Seconds at_most = never);
    /// Something was done: the next wait begins with the shortest sleep.
    void reset_backoff() { backoff_.reset(); }

    mpi::Pool& pool() { return pool_; }
    /// Seconds that the last contribution took to leave; 0: none has left yet.
    Seconds send_seconds() const { return send_seconds_; }

private:
    const mpi::Comm& comm_;
    Doorbells& bells_;
    mpi::Pool pool_;
    Backoff backoff_{1e-3, &bells_};
    FailureDetector detector_;
    std::optional<mpi::Transfer> incoming_, outgoing_, pong_;
    Seconds send_began_ = 0, send_seconds_ = 0;
};

}  // namespace quorate
