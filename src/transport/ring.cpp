// SPDX-License-Identifier: BSD-2-Clause
#include "transport/ring.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace quorate {

namespace {

constexpr std::size_t capacity = 16384;  // bytes, a power of two
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// What a message takes, with its head.
std::size_t room_for(std::size_t bytes) { return sizeof(Ring::Head) + (bytes + 7) / 8 * 8; }

}  // namespace

// The counts never wrap. Each stands in a cache line that one side writes and the other reads.
struct Ring::Shared {
    alignas(64) std::atomic<std::uint64_t> written;
    alignas(64) std::atomic<std::uint64_t> read;
    alignas(64) std::atomic<std::uint32_t> writer_waits;
    alignas(64) std::byte data[capacity];
};

std::size_t Ring::size() { return sizeof(Shared); }

Ring::Ring(std::byte* memory) : shared_(reinterpret_cast<Shared*>(memory)) {}

bool Ring::has_room(std::size_t bytes)
{
    const auto fits = [&] { return written_ - read_ + bytes <= capacity; };
    if (fits()) return true;
    read_ = shared_->read.load(std::memory_order_acquire);
    if (fits()) return true;
    // The reader looks at this after it has made room, so one of both sees what the other did.
    shared_->writer_waits = 1;
    read_ = shared_->read;
    return fits();
}

void Ring::copy_in(std::uint64_t at, const void* from, std::size_t bytes)
{
    const auto begin = at % capacity;
    const auto first = std::min(bytes, capacity - begin);
    std::memcpy(shared_->data + begin, from, first);
    std::memcpy(shared_->data, static_cast<const std::byte*>(from) + first, bytes - first);
}

void Ring::copy_out(std::uint64_t at, void* to, std::size_t bytes) const
{
    const auto begin = at % capacity;
    const auto first = std::min(bytes, capacity - begin);
    std::memcpy(to, shared_->data + begin, first);
    std::memcpy(static_cast<std::byte*>(to) + first, shared_->data, bytes - first);
}

bool Ring::append(Head head, std::span<const std::byte> message)
{
    const auto room = room_for(message.size());
    if (!has_room(room)) return false;
    copy_in(written_, &head, sizeof head);
    if (!message.empty()) copy_in(written_ + sizeof head, message.data(), message.size());
    written_ += room;
    shared_->written.store(written_, std::memory_order_release);
    return true;
}

bool Ring::push(int tag, Seconds sent, std::span<const std::byte> message)
{
    return append({static_cast<std::uint32_t>(message.size()), tag, sent}, message);
}

bool Ring::announce(int tag, Seconds sent) { return append({travels_elsewhere, tag, sent}, {}); }

std::optional<Ring::Head> Ring::front() const
{
    const auto there = shared_->written.load(std::memory_order_acquire) - read_;
    if (there == 0) return std::nullopt;
    Head head;
    copy_out(read_, &head, sizeof head);
    const auto bytes = head.elsewhere() ? 0 : head.bytes;
    if (bytes > longest || room_for(bytes) > there)
        throw Failure("a message in shared memory is spoilt: report this as a bug");
    return head;
}

bool Ring::pop(const Head& head, std::byte* to)
{
    const std::size_t bytes = head.elsewhere() ? 0 : head.bytes;
    if (bytes > 0) copy_out(read_ + sizeof head, to, bytes);
    read_ += room_for(bytes);
    shared_->read = read_;
    return shared_->writer_waits != 0 && shared_->writer_waits.exchange(0) != 0;
}

}  // namespace quorate
