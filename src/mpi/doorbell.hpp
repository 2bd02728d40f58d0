// SPDX-License-Identifier: BSD-2-Clause
// Doorbells: the ranks on the coordinator's host wake each other through shared memory. Without
// them a rank that waits for a message wakes hundreds of times to look for it; with 30 ranks on two
// cores that took a third of a short round.
#pragma once

#include <cstdint>

#include "base/seconds.hpp"

namespace quorate {

/// Where to find the coordinator's doorbells. The coordinator sends it in its first message
/// (`join_reply`).
struct DoorbellAddress {
    std::int64_t process = 0, file = -1;  // process number and file descriptor; file -1: no bells
    std::uint64_t token = 0;  // random: tells this memory from another host's with the same numbers
};

/// A bell (a futex) for each rank, in memory that the processes of one host share. A rank on
/// another host has no bell and polls. Messages always travel by MPI, so a ring that is lost costs
/// time only. Local.
class Doorbells {
public:
    /// No bells: ring() does nothing, and nobody is woken.
    Doorbells() = default;
    /// Makes the bells, on the coordinator. Where the system refuses the memory there are none.
    /// @param ranks  size of the communicator
    explicit Doorbells(int ranks);
    /// Joins the coordinator's bells, on another rank. There are none if it is on another host.
    /// @param rank, ranks  this rank, and the size of the communicator
    Doorbells(const DoorbellAddress& address, int rank, int ranks);
    Doorbells(const Doorbells&) = delete;
    Doorbells& operator=(const Doorbells&) = delete;
    ~Doorbells();

    DoorbellAddress address() const { return address_; }
    /// Whether this rank can be woken.
    bool present() const { return cells_ != nullptr; }
    /// Wakes a rank, if it has a bell. Costs an atomic increment, and a system call if the rank
    /// sleeps.
    void ring(int rank);
    /// Whether a rank with a bell belongs to a process that has ended. False for ranks without a
    /// bell. One system call.
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
    void map(int file, int ranks);

    DoorbellAddress address_;
    Cell* cells_ = nullptr;
    std::size_t size_ = 0;  // of the mapping, bytes
    int rank_ = 0, ranks_ = 0;
};

}  // namespace quorate
