// SPDX-License-Identifier: BSD-2-Clause
// Ranks on the coordinator's host wake each other instead of polling. A rank that sleeps until a
// message comes would otherwise look for it hundreds of times; with 30 ranks on two cores that took
// a third of a short round.
#pragma once

#include <cstdint>

#include "base/seconds.hpp"

namespace quorate {

/// Where to find the coordinator's doorbells; travels in the first message.
struct DoorbellAddress {
    std::int64_t process = 0, file = -1;
    std::uint64_t token = 0;  // tells our memory from another host's with the same numbers
};

/// A bell for each rank, in memory that processes of one host share. A rank on another host has none
/// and polls; messages themselves always go by MPI, so a ring that is lost costs time only.
class Doorbells {
public:
    /// None: ring() does nothing, and nobody is woken.
    Doorbells() = default;
    /// The coordinator's: makes them. Where that is not possible, there are none.
    explicit Doorbells(int ranks);
    /// Another rank's: joins, if it is on the same host.
    Doorbells(const DoorbellAddress& address, int rank, int ranks);
    Doorbells(const Doorbells&) = delete;
    Doorbells& operator=(const Doorbells&) = delete;
    ~Doorbells();

    DoorbellAddress address() const { return address_; }
    /// Whether this rank can be woken.
    bool present() const { return cells_ != nullptr; }
    /// Wakes a rank, if it has a bell. A fence, and a system call only if it sleeps.
    void ring(int rank);
    /// Whether a rank that has a bell is a process that is there no more.
    bool gone(int rank) const;
    /// How often this rank's bell rang.
    std::uint32_t rings() const;
    /// Sleeps until the bell has rung more often than that, or the time is over.
    void wait(std::uint32_t rings, Seconds at_most);

private:
    struct Cell;
    void map(int file, int ranks);

    DoorbellAddress address_;
    Cell* cells_ = nullptr;
    std::size_t size_ = 0;
    int rank_ = 0, ranks_ = 0;
};

}  // namespace quorate
