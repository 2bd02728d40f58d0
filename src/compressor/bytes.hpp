// SPDX-License-Identifier: BSD-2-Clause
// Numbers in bytes that need not be aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace quorate {

/// Appends numbers to bytes.
class BytesOut {
public:
    explicit BytesOut(std::byte* to) : to_(to) {}
    template <class T>
    void put(const T& value)
    {
        std::memcpy(to_, &value, sizeof value);
        to_ += sizeof value;
    }

private:
    std::byte* to_;
};

/// Takes numbers from bytes, in the order in which they were put there.
class BytesIn {
public:
    explicit BytesIn(const std::byte* from) : from_(from) {}
    template <class T>
    T get()
    {
        T value;
        std::memcpy(&value, from_, sizeof value);
        from_ += sizeof value;
        return value;
    }

private:
    const std::byte* from_;
};

/// Appends numbers of a few bits each, the lowest bits of a byte first.
class BitsOut {
public:
    explicit BitsOut(std::byte* to) : to_(to) {}
    void put(std::uint32_t value, int bits)
    {
        held_ |= std::uint64_t{value} << count_;
        for (count_ += bits; count_ >= 8; count_ -= 8, held_ >>= 8) *to_++ = std::byte(held_);
    }
    /// Fills the last byte up. @return behind it
    std::byte* end()
    {
        if (count_ > 0) *to_++ = std::byte(held_);
        held_ = 0, count_ = 0;
        return to_;
    }

private:
    std::byte* to_;
    std::uint64_t held_ = 0;
    int count_ = 0;
};

/// Takes numbers that BitsOut has put.
class BitsIn {
public:
    explicit BitsIn(const std::byte* from) : from_(from) {}
    std::uint32_t get(int bits)
    {
        for (; count_ < bits; count_ += 8)
            held_ |= std::to_integer<std::uint64_t>(*from_++) << count_;
        const auto value = static_cast<std::uint32_t>(held_ & ((std::uint64_t{1} << bits) - 1));
        held_ >>= bits, count_ -= bits;
        return value;
    }
    /// Leaves the rest of the last byte out. @return behind it
    const std::byte* end() const { return from_; }

private:
    const std::byte* from_;
    std::uint64_t held_ = 0;
    int count_ = 0;
};

}  // namespace quorate
