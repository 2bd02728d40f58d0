// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <vector>

#include "transport/clock.hpp"
#include "transport/endpoint.hpp"

namespace quorate {

/// Decides which ranks are dead, because MPI does not report it. A rank is dead if one of these
/// holds: it has been silent for longer than the timeout, it is unreachable, or it was seen to end.
/// Silence counts only while the caller looks: a job that is suspended, a host that is frozen and a
/// file system that stalls make nobody dead. Local: the caller sends the pings and tells of
/// messages. O(1) a call.
class FailureDetector {
public:
    /// @param endpoint  must outlive this object; it tells which ranks have ended or are
    ///        unreachable
    /// @param timeout   seconds of silence after which a rank is dead
    /// @param clock     that of the host
    FailureDetector(const transport::Endpoint& endpoint, Seconds timeout,
                    std::function<Seconds()> clock = clock_seconds);

    /// Records that a message of this rank has come.
    void is_alive(int rank);
    /// Allows the rank ten timeouts of silence from now on, because it loads rows or scores models.
    void extend_grace(int rank);
    /// The rank has done that: from now on one timeout of silence is too long again.
    void end_grace(int rank);
    /// Allows the rank so many seconds of silence more until it speaks again, since a long message
    /// is on its way to it.
    void allow(int rank, Seconds seconds);
    /// Whether to ping the rank now: it has neither spoken nor been pinged for a quarter of the
    /// timeout. The caller is taken to send the ping if so.
    bool should_ping(int rank);
    bool is_dead(int rank);
    /// Seconds of silence; infinitely many if it was seen to end, or is unreachable.
    Seconds silence(int rank);
    /// Whether the rank is as good as dead if another one of its host is dead: it has been silent
    /// for half the timeout, and so has not answered a ping.
    bool is_suspect(int rank);

private:
    // Seconds that the caller has looked. Of a longer time between two calls, it has looked only
    // for a moment.
    Seconds looked();

    struct One {
        Seconds last_message = 0, last_ping = 0;  // by looked(); after extend_grace() in the future
        Seconds allowed = 0;
    };
    const transport::Endpoint& endpoint_;
    std::vector<One> ranks_;
    Seconds timeout_;
    std::function<Seconds()> clock_;
    Seconds looked_ = 0;
    Seconds last_look_;  // by the clock
};

}  // namespace quorate
