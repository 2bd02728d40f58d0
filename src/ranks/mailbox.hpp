// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>

#include "ranks/failure_detector.hpp"
#include "transport/endpoint.hpp"

namespace quorate {

/// Thrown on a worker when the coordinator is dead.
class Orphaned : public Failure {
public:
    using Failure::Failure;
};

/// A worker's messages to the coordinator, and those from there and from the leader of its node. At
/// most one message is leaving, and the answer to a ping. Local.
class Mailbox {
public:
    /// @param endpoint  must outlive this object
    /// @param timeout   seconds of silence after which the coordinator is dead
    Mailbox(transport::Endpoint& endpoint, Seconds timeout);

    /// Receives all messages that have come, and answers pings. Never waits, unless `receive` does.
    /// @param receive  called with each message but pings; may call send()
    void poll(const std::function<void(const transport::Message&)>& receive);
    /// Starts to send a message; waits first until the message before has left.
    /// @throws Orphaned if the coordinator dies meanwhile
    /// @throws transport::Unreachable if it cannot be reached
    void send(transport::Tag tag, std::shared_ptr<transport::Bytes> bytes);
    /// Whether the last message may still be leaving: poll() has not found it gone yet.
    bool is_sending() const { return is_sending_; }
    /// Waits until the last message has left. @throws as send()
    void flush();
    /// Sleeps once, for at most so many seconds; a message that comes ends the sleep early.
    /// @throws as send()
    void wait(Seconds at_most = never);
    /// Lets the next wait begin with the shortest sleep, because something was done.
    void restart_wait() { endpoint_.restart_wait(); }

    /// Seconds since the coordinator was heard of; as FailureDetector counts them.
    Seconds silence() { return detector_.silence(0); }
    /// Seconds that the last contribution took to leave; 0: none has left yet. Measured up to the
    /// poll() that found it gone.
    Seconds send_seconds() const { return send_seconds_; }

private:
    void note_sent();

    transport::Endpoint& endpoint_;
    FailureDetector detector_;  // of rank 0 only
    bool is_sending_ = false;
    transport::Tag sending_{};  // the message sent last
    transport::Ticket ticket_, pong_;
    Seconds checked_ = 0;  // when the coordinator was found alive last
    Seconds send_began_ = 0, send_seconds_ = 0;
};

}  // namespace quorate
