// SPDX-License-Identifier: BSD-2-Clause
// A queue of short messages from one process to another of its host, in memory that both map. There
// is no lock: either process may be killed at any instruction, and a message that was not published
// does not exist for the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/seconds.hpp"

namespace quorate {

/// One side of such a queue: one process pushes, the other pops. Local; one thread each.
class Ring {
public:
    /// The most bytes that a message may have. A longer one is announced, and travels elsewhere.
    static constexpr std::size_t longest = 4096;
    /// Bytes of memory that a ring takes, a multiple of 64.
    static std::size_t size();

    /// What stands before a message.
    struct Head {
        std::uint32_t bytes;
        std::int32_t tag;
        Seconds sent;  // as the writer says
        bool elsewhere() const { return bytes == travels_elsewhere; }
    };

    /// None: only to be assigned to.
    Ring() = default;
    /// @param memory  size() bytes at a multiple of 64, which were zero before either side began
    explicit Ring(std::byte* memory);

    /// Appends a message, which has `longest` bytes at most. O(its bytes).
    /// @return false: there is no room now, and the reader is asked to tell when there is some
    bool push(int tag, Seconds sent, std::span<const std::byte> message);
    /// Appends word of a message that travels elsewhere. @return as push()
    bool announce(int tag, Seconds sent);

    /// The oldest message; nullopt: there is none. @throws Failure if the memory is spoilt
    std::optional<Head> front() const;
    /// Takes the oldest message. Only after front() gave it.
    /// @param to  room for its bytes; none are written if it travels elsewhere
    /// @return whether the writer waits for room, and is to be woken
    bool pop(const Head& head, std::byte* to);

private:
    struct Shared;
    static constexpr std::uint32_t travels_elsewhere = ~std::uint32_t{0};
    bool append(Head head, std::span<const std::byte> message);
    bool has_room(std::size_t bytes);
    void copy_in(std::uint64_t at, const void* from, std::size_t bytes);
    void copy_out(std::uint64_t at, void* to, std::size_t bytes) const;

    Shared* shared_ = nullptr;
    // Bytes written or read by this side since the beginning; of the other side, when last looked.
    std::uint64_t written_ = 0, read_ = 0;
};

}  // namespace quorate
