// SPDX-License-Identifier: BSD-2-Clause
#include "transport/bytes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace quorate::transport {

namespace {

// In bytes.
constexpr std::size_t small_message = 65'536, large_buffer = 1'048'576;

}  // namespace

std::shared_ptr<Bytes> Pool::take(std::size_t size)
{
    const std::lock_guard lock(shelf_->mutex);
    auto& free = shelf_->free;
    const auto too_large = [size](const std::unique_ptr<Bytes>& one) {
        return size < small_message && one->capacity() > large_buffer;
    };
    // Choose the smallest buffer that is large enough, or else the largest one, which then grows.
    const auto waste = [&](const std::unique_ptr<Bytes>& one) {
        const auto capacity = one->capacity();
        return std::tuple(too_large(one), capacity < size,
                          capacity < size ? size - capacity : capacity - size);
    };
    const auto best = std::ranges::min_element(free, {}, waste);
    std::unique_ptr<Bytes> bytes;
    if (best == free.end() || too_large(*best)) {
        bytes = std::make_unique<Bytes>();
    } else {
        bytes = std::move(*best);
        *best = std::move(free.back());
        free.pop_back();
    }
    bytes->resize(size);
    const auto give_back = [shelf = std::weak_ptr(shelf_)](Bytes* used) {
        std::unique_ptr<Bytes> owned(used);
        if (const auto home = shelf.lock()) {
            const std::lock_guard here(home->mutex);
            home->free.push_back(std::move(owned));
        }
    };
    return {bytes.release(), give_back};
}

}  // namespace quorate::transport
