// SPDX-License-Identifier: BSD-2-Clause
#include "transport/bytes.hpp"

#include <algorithm>
#include <utility>

namespace quorate::transport {

std::shared_ptr<Bytes> Pool::take(std::size_t size)
{
    const std::lock_guard lock(shelf_->mutex);
    auto& free = shelf_->free;
    // Choose the smallest buffer that is large enough, or else the largest one, which then grows.
    const auto waste = [size](const std::unique_ptr<Bytes>& one) {
        const auto capacity = one->capacity();
        return std::pair(capacity < size, capacity < size ? size - capacity : capacity - size);
    };
    const auto best = std::ranges::min_element(free, {}, waste);
    std::unique_ptr<Bytes> bytes;
    if (best == free.end()) {
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
