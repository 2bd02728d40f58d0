// SPDX-License-Identifier: BSD-2-Clause
// Doorbells: the ranks of a host wake each other through shared memory. Without them a rank that
// waits for a message wakes hundreds of times to look for it; with 30 ranks on two cores that took
// a third of a short round.
#pragma once

#include <cstdint>

#include "base/seconds.hpp"
#include "transport/shared_file.hpp"

namespace quorate {

/// A bell (a futex) for each rank of a host, in memory that its processes share. No message is in a
/// bell, so a ring that is lost costs time only. Local.
class Doorbells {
public:
    /// No bells: ring() does nothing, and nobody is woken.
    Doorbells() = default;
    /// Makes the bells of a host. Where the system refuses the memory there are none.
    /// @param rank, ranks  this rank, and the size of the communicator
    Doorbells(int rank, int ranks);
    /// Joins the bells that another rank has made. There are none if it is on another host.
    /// @param address      as the coordinator's first message (`join_reply`) has it
    /// @param rank, ranks  this rank, and the size of the communicator
    Doorbells(const SharedAddress& address, int rank, int ranks);

    const SharedAddress& address() const { return file_.address(); }
    /// Whether this rank can be woken.
    bool present() const { return cells_ != nullptr; }
    /// Whether this is the coordinator's host.
    bool with_coordinator() const;
    /// Whether everybody who sends messages to this rank can ring: the coordinator, or all ranks.
    bool all_ring();
    /// Wakes a rank, if it has a bell. Costs an atomic increment, and a system call if the rank
    /// sleeps.
    void ring(int rank);
    /// Whether a rank with a bell belongs to a process that has ended; but for rank 0, and has been
    /// waited for. False for ranks without a bell. A few system calls for rank 0, one for others.
    bool gone(int rank) const;
    /// How often this rank's bell has rung (modulo 2^32); 0 without bells.
    std::uint32_t rings() const;
    /// Sleeps until the count of rings differs from `rings`, or until the time is over; may also
    /// return earlier. Only if present().
    /// @param rings    what rings() gave before the caller looked for messages
    /// @param at_most  seconds, finite
    void wait(std::uint32_t rings, Seconds at_most);

private:
    struct Cell;
    void map(int ranks);

    SharedFile file_;
    std::shared_ptr<SharedMapping> mapping_;
    Cell* cells_ = nullptr;
    int rank_ = 0, ranks_ = 0;
    int joined_ = 1;  // ranks that are known to have joined, from 0 on
};

}  // namespace quorate
