// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <thread>

#include "ranks/share_messages.hpp"
#include "transport/endpoint.hpp"
#include "transport/relay.hpp"

namespace quorate {

/// Runs the engine of a share: on a thread of its own, until the coordinator ends the run.
using OwnShare = std::function<void(const Ownership& ownership, transport::Relay& relay)>;

/// The thread of a worker's rank that owns a share of the parameters. The rank computes meanwhile,
/// and passes the thread's messages on. For the rank's own thread.
class ShareOwner {
public:
    /// @param own, endpoint  must outlive this object
    ShareOwner(const OwnShare& own, Ownership ownership, transport::Endpoint& endpoint);
    /// Ends the thread.
    ~ShareOwner();
    ShareOwner(const ShareOwner&) = delete;
    ShareOwner& operator=(const ShareOwner&) = delete;

    /// Whether a message is for the thread.
    static bool wants(transport::Tag tag);
    void take(const transport::Message& message) { relay_.deliver(message); }
    /// Sends what the thread has posted.
    /// @param own  takes what is for this rank itself
    /// @throws what has ended the thread
    void pass_on(const std::function<void(const transport::Message&)>& own);

private:
    transport::Endpoint& endpoint_;
    transport::Relay relay_;
    std::exception_ptr error_;
    std::atomic<bool> failed_ = false;  // error_ is there
    std::jthread thread_;
};

}  // namespace quorate
