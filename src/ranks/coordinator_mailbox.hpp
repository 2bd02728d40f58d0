// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "ranks/failure_detector.hpp"
#include "transport/endpoint.hpp"

namespace quorate {

/// The coordinator's messages with all other ranks, and what they tell of who is dead. A rank to or
/// from which a message fails is dead, too. Never waits. Local.
class CoordinatorMailbox {
public:
    /// @param endpoint  must outlive this object
    /// @param timeout   seconds of silence after which a rank is taken for dead
    CoordinatorMailbox(transport::Endpoint& endpoint, Seconds timeout)
        : endpoint_(endpoint), detector_(endpoint, timeout)
    {
    }

    transport::Endpoint& endpoint() { return endpoint_; }
    transport::Pool& pool() { return endpoint_.pool(); }
    FailureDetector& detector() { return detector_; }

    /// Sends a message that counts as one of the run: tasks, points, cancels. Rings no bell.
    transport::Ticket send(int rank, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes);
    /// Sends a message that does not count, and rings.
    void send_aside(int rank, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes);
    /// Counts bytes that a rank reads in shared memory, as if they had travelled.
    void count(std::size_t bytes) { bytes_sent_ += static_cast<std::int64_t>(bytes); }
    std::int64_t bytes_sent() const { return bytes_sent_; }

    /// Takes the next message, if one has come: its sender is alive.
    std::optional<transport::Message> receive();
    /// Asks a rank that has long been silent whether it is there.
    void ping(int rank);
    /// Whether a rank is dead; then nobody waits for its messages any more.
    bool has_died(int rank);
    /// Whether some rank has died. A collective call would wait for it for ever.
    bool has_dead_ranks() const { return has_dead_ranks_; }
    /// Whether a rank is dead whose process nobody has seen end: its host may be gone.
    bool has_lost_ranks() const { return has_lost_ranks_; }

private:
    transport::Ticket post(int rank, transport::Tag tag, std::shared_ptr<transport::Bytes> bytes);

    transport::Endpoint& endpoint_;
    FailureDetector detector_;
    bool has_dead_ranks_ = false, has_lost_ranks_ = false;
    std::int64_t bytes_sent_ = 0;
};

}  // namespace quorate
