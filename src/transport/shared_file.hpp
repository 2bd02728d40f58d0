// SPDX-License-Identifier: BSD-2-Clause
// Memory that the processes of one host share: a file without a name, which one of them makes and
// the others open. It is gone when the last of them is, however it ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace quorate {

/// Where another process finds a shared file. It travels in messages.
struct SharedAddress {
    std::int64_t process = 0, file = -1;  // process number and file descriptor; file -1: none
    std::uint64_t token = 0;  // random: tells this file from another host's with the same numbers

    /// Whether a process of this host has it open: its owner may have ended.
    bool is_open() const;
};

/// A part of a shared file, mapped. Its memory was reserved when the file grew, so touching it
/// never fails.
class SharedMapping {
public:
    SharedMapping(void* memory, std::size_t size) : memory_(memory), size_(size) {}
    SharedMapping(const SharedMapping&) = delete;
    SharedMapping& operator=(const SharedMapping&) = delete;
    ~SharedMapping();
    std::byte* data() const { return static_cast<std::byte*>(memory_); }

private:
    void* memory_;
    std::size_t size_;  // bytes
};

/// A shared file. Local. Where the system refuses it, or the other process is on another host or in
/// another container, there is none.
class SharedFile {
public:
    /// None.
    SharedFile() = default;
    /// Makes an empty file. @param name  for people who look at /proc
    explicit SharedFile(const char* name);
    /// Opens the file of another process.
    explicit SharedFile(const SharedAddress& address);
    SharedFile(SharedFile&& other) noexcept;
    SharedFile& operator=(SharedFile&& other) noexcept;
    ~SharedFile();

    /// Where the first part begins that extend() gives: behind the token.
    static constexpr std::int64_t first = 4096;

    bool present() const { return file_ >= 0; }
    /// Of a file that this process made.
    const SharedAddress& address() const { return address_; }
    /// Makes the file longer, and reserves the memory.
    /// @param bytes  at least so many
    /// @return where the new part begins; nullopt: there is not so much memory
    std::optional<std::int64_t> extend(std::size_t bytes);
    /// Maps a part of the file, which must be there, and touches it. A process maps a part once:
    /// its threads share the mapping, so that what is atomic is so for them too.
    /// @param at  as extend() gave it
    /// @return null if the system refuses it
    std::shared_ptr<SharedMapping> map(std::int64_t at, std::size_t bytes) const;
    /// Reads a number without mapping it. @param at  where it is, in bytes
    /// @return 0 if it is not there
    std::uint64_t number(std::int64_t at) const;

private:
    SharedAddress address_;
    int file_ = -1;
    std::uint64_t token_ = 0;
    std::int64_t size_ = 0;  // bytes
};

}  // namespace quorate
