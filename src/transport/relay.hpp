// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "transport/message.hpp"

namespace quorate::transport {

/// Thrown on a second thread whose rank needs it no more.
struct Closed {};

/// The messages of a second thread of a rank. The rank's own thread alone speaks to its endpoint:
/// it hands over what is for the other thread, and sends what that one has posted.
class Relay {
public:
    /// @param wake  ends a wait of the rank's own thread, from the second one
    explicit Relay(std::function<void()> wake) : wake_(std::move(wake)) {}
    /// Hands a message over. On the rank's own thread.
    void deliver(Message message);
    /// Calls `send` with each message that was posted, in their order. On the rank's own thread.
    /// @return whether there was one
    bool pass_on(const std::function<void(int to, Tag, std::shared_ptr<Bytes>)>& send);
    /// Ends the other thread's next receive(). On the rank's own thread.
    void close();

    /// Posts a message, which leaves soon. On the second thread.
    void post(int to, Tag tag, std::shared_ptr<Bytes> bytes);
    /// Waits for the next message that is handed over. On the second thread. @throws Closed
    Message receive();

private:
    struct Posted {
        int to;
        Tag tag;
        std::shared_ptr<Bytes> bytes;
    };
    std::function<void()> wake_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Message> delivered_;  // under the mutex, as all that follows
    std::deque<Posted> posted_;
    bool closed_ = false;
};

}  // namespace quorate::transport
