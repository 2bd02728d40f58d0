// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "transport/endpoint.hpp"

namespace quorate {

/// Decides which ranks are dead, because MPI does not report it. A rank is dead if one of these
/// holds: it has been silent for longer than the timeout, it is unreachable, or it was seen to end. Local: the caller sends the pings and tells of messages. O(1) a call.
class FailureDetector {
public:
    /// @param endpoint  must outlive this object; it tells which ranks have ended or are unreachable
    /// @param timeout   seconds of silence after which a rank is dead
    FailureDetector(const transport::Endpoint& endpoint, Seconds timeout);

    /// Records that a message of this rank has come.
    void is_alive(int rank);
    /// Allows the rank ten timeouts of silence from now on, because it loads rows or scores models.
    void extend_grace(int rank);
    /// The rank has done that: from now on one timeout of silence is too long again.
    void end_grace(int rank);
    /// Whether to ping the rank now: it has neither spoken nor been pinged for a quarter of the
    /// timeout. The caller is taken to send the ping if so.
    bool should_ping(int rank);
    bool is_dead(int rank) const;
    /// Whether the rank is as good as dead if another one of its host is dead: it has been silent
    /// for half the timeout, and so has not answered a ping.
    bool is_suspect(int rank) const;

private:
    struct One {
        Seconds last_message, last_ping;  // clock_seconds(); after extend_grace() in the future
    };
    const transport::Endpoint& endpoint_;
    std::vector<One> ranks_;
    Seconds timeout_;
};

}  // namespace quorate
