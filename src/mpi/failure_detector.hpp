// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "mpi/doorbell.hpp"

namespace quorate {

/// Decides which ranks are dead, because MPI does not tell. A rank is dead if it has been silent for longer
/// than the timeout although it was pinged, if MPI cannot reach it, or if its process on this host has ended.
/// Local: the caller sends the pings. O(1) a call.
class FailureDetector {
public:
    /// @param timeout  seconds of silence after which a rank is dead; it is to be pinged after a quarter
    FailureDetector(int ranks, Seconds timeout, const Doorbells& bells);

    /// A message of this rank has come.
    void is_alive(int rank);
    /// The rank may be silent for ten timeouts from now on, because it loads rows or scores models.
    void extend_grace(int rank);
    /// MPI cannot reach it: it is dead from now on.
    void mark_unreachable(int rank);
    /// Whether to ping the rank now; once a quarter of the timeout at most.
    bool should_ping(int rank);
    bool is_dead(int rank) const;

private:
    struct One {
        Seconds last_message, last_ping;
    };
    std::vector<One> ranks_;
    Seconds timeout_;
    const Doorbells& bells_;
};

}  // namespace quorate
