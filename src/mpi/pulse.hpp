// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "mpi/doorbell.hpp"

namespace quorate {

/// Signs of life of other ranks. MPI does not tell of deaths: one that has been silent for too long, and
/// has not answered when it was pinged, is taken for dead; a process of this host that is gone, at once.
class Pulse {
public:
    /// @param timeout  silence after which a rank is taken for dead; it is pinged after a quarter
    Pulse(int ranks, Seconds timeout, const Doorbells& bells);

    /// It has said something.
    void heard(int rank);
    /// It may be silent for ten times as long from now on, because it loads rows.
    void excuse(int rank);
    /// MPI cannot reach it.
    void give_up(int rank);
    /// Whether to ping it now.
    bool ask(int rank);
    /// Whether it is dead.
    bool lost(int rank) const;

private:
    struct One {
        Seconds heard, asked;
    };
    std::vector<One> ranks_;
    Seconds timeout_;
    const Doorbells& bells_;
};

}  // namespace quorate
