// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shared_blocks.hpp"

#include <fmt/format.h>

#include <atomic>

#include "base/error.hpp"
#include "base/poison.hpp"

namespace quorate {

namespace {

// A block begins with the number of its doubles. How often each reader has given it back follows,
// then its values, at a multiple of 64 bytes.
using Count = std::atomic<std::uint32_t>;
static_assert(Count::is_always_lock_free);

std::size_t head_size(int readers)
{
    return (sizeof(std::uint64_t) + static_cast<std::size_t>(readers) * sizeof(Count) + 63) / 64 *
           64;
}

Count& given_back(const SharedMapping& block, int reader)
{
    return reinterpret_cast<Count*>(block.data() + sizeof(std::uint64_t))[reader];
}

double* values_of(const SharedMapping& block, int readers)
{
    return reinterpret_cast<double*>(block.data() + head_size(readers));
}

}  // namespace

SharedBlocks::SharedBlocks(const char* name, int readers, std::function<bool(int)> gone)
    : file_(name), readers_(readers), gone_(std::move(gone))
{
}

double* SharedBlocks::take(std::size_t size)
{
    const auto values_in = [this](const Block& block) {
        return values_of(*block.memory, readers_);
    };
    Block* best = nullptr;
    for (auto& [values, block] : blocks_)
        if (!block.taken && block.size >= size && (!best || block.size < best->size) &&
            !is_lent(block))
            best = &block;
    if (best) {
        best->taken = true;
        poison(std::span(values_in(*best), best->size));
        return values_in(*best);
    }
    const auto bytes = head_size(readers_) + size * sizeof(double);
    const auto at = file_.extend(bytes);
    if (!at) return nullptr;
    Block block{file_.map(*at, bytes), *at, size, true,
                std::vector<std::uint32_t>(static_cast<std::size_t>(readers_))};
    if (!block.memory) return nullptr;
    *reinterpret_cast<std::uint64_t*>(block.memory->data()) = size;
    auto* values = values_in(block);
    blocks_.emplace(values, std::move(block));
    return values;
}

void SharedBlocks::give_back(const double* block) { blocks_.at(block).taken = false; }

std::int64_t SharedBlocks::lend(const double* block, int reader)
{
    auto& lent = blocks_.at(block);
    ++lent.lent[static_cast<std::size_t>(reader)];
    // What was written to the block is seen by who gets the message.
    std::atomic_thread_fence(std::memory_order_release);
    return lent.at;
}

bool SharedBlocks::is_lent(const Block& block) const
{
    for (int reader = 0; reader < readers_; ++reader)
        if (block.lent[static_cast<std::size_t>(reader)] !=
                given_back(*block.memory, reader).load(std::memory_order_acquire) &&
            !(gone_ && gone_(reader)))
            return true;
    return false;
}

BorrowedBlocks::BorrowedBlocks(const SharedAddress& address, int readers, int reader)
    : file_(address), readers_(readers), reader_(reader)
{
}

std::shared_ptr<const double> BorrowedBlocks::borrow(std::int64_t name, std::size_t size)
{
    auto& block = blocks_[name];
    if (!block) {
        const auto capacity = file_.number(name);
        if (capacity < size)
            throw Failure("a message names shared memory that is not there: report this as a bug");
        block = file_.map(name, head_size(readers_) + capacity * sizeof(double));
        if (!block) {
            blocks_.erase(name);
            throw Failure(
                fmt::format("cannot map {} bytes of shared memory: use --transport "
                            "messages, or raise the limit of address space (ulimit -v)",
                            capacity * sizeof(double)));
        }
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    const auto give_back = [block, reader = reader_](const double*) {
        given_back(*block, reader).fetch_add(1, std::memory_order_release);
    };
    return {values_of(*block, readers_), give_back};
}

}  // namespace quorate
