// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "mpi/doorbell.hpp"

namespace quorate {

/// Decides which ranks are dead, because MPI does not report it. A rank is dead if one of these
/// holds: it has been silent for longer than the timeout, MPI cannot reach it, or its process on
/// this host has ended. Local: the caller sends the pings and tells of messages. O(1) a call.
class FailureDetector {
public:
    /// @param ranks    number of ranks to watch, from 0
    /// @param timeout  seconds of silence after which a rank is dead
    /// @param bells    must outlive this object; they tell which processes of this host have ended
    FailureDetector(int ranks, Seconds timeout, const Doorbells& bells);

    /// Records that a message of this rank has come. A rank that is unreachable stays dead.
    void is_alive(int rank);
    /// Allows the rank ten timeouts of silence from now on, because it loads rows or scores models.
    /// A rank that was marked unreachable is alive again.
    void extend_grace(int rank);
    /// The rank has done that: from now on one timeout of silence is too long again.
    void end_grace(int rank);
    /// Records that MPI cannot reach the rank: it is dead from now on.
    void mark_unreachable(int rank);
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
    std::vector<One> ranks_;
    Seconds timeout_;
    const Doorbells& bells_;
};

}  // namespace quorate
