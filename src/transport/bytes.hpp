// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace quorate::transport {

/// The bytes of a message, aligned for doubles. New memory is not set to zero.
class Bytes {
public:
    Bytes() = default;
    explicit Bytes(std::size_t size) { resize(size); }
    /// Sets the number of bytes. Takes new memory only if the old is too small, and then the
    /// contents are lost.
    void resize(std::size_t size)
    {
        if (size > capacity_) {
            memory_ = std::make_unique_for_overwrite<double[]>((size + sizeof(double) - 1) /
                                                               sizeof(double));
            capacity_ = size;
        }
        size_ = size;
    }
    std::byte* data() { return reinterpret_cast<std::byte*>(memory_.get()); }
    const std::byte* data() const { return reinterpret_cast<const std::byte*>(memory_.get()); }
    std::size_t size() const { return size_; }
    /// Bytes that fit without new memory.
    std::size_t capacity() const { return capacity_; }

private:
    std::unique_ptr<double[]> memory_;
    std::size_t size_ = 0, capacity_ = 0;
};

/// Message buffers that are used again, because fresh memory costs a page fault every 4 KiB. Taken
/// by one thread; the last owner of one may be on any thread.
class Pool {
public:
    /// Takes a buffer of `size` bytes with any contents: the smallest free one that is large
    /// enough, or else the largest free one, which grows. A message of less than 64 KiB takes none
    /// of more than 1 MiB, because a ping to a rank that is busy would keep it from long messages.
    /// The buffer returns to the pool when its last owner releases it; if the pool no longer
    /// exists, it is deleted. O(free buffers).
    std::shared_ptr<Bytes> take(std::size_t size);

private:
    struct Shelf {
        std::mutex mutex;
        std::vector<std::unique_ptr<Bytes>> free;
    };
    std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace quorate::transport
