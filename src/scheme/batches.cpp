// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/batches.hpp"

#include <algorithm>
#include <cmath>

namespace quorate {

void SampleStream::take(std::span<std::int64_t> rows)
{
    // The shuffle of Fisher and Yates. Only the places that have been swapped are remembered.
    const auto at = [this](std::int64_t position) {
        const auto found = moved_.find(position);
        return found == moved_.end() ? position : found->second;
    };
    for (auto& row : rows) {
        if (taken_ == rows_) {
            taken_ = 0;
            moved_.clear();
        }
        const auto position = taken_ + static_cast<std::int64_t>(
                                           random_.below(static_cast<std::size_t>(rows_ - taken_)));
        row = at(position);
        moved_[position] = at(taken_);
        moved_.erase(taken_++);
    }
}

Batches::Batches(const Needs& needs, std::uint64_t seed, std::int64_t batch)
    : seed_(seed), full_(batch == 0)
{
    for (const auto& block : needs.blocks) all_ += block.count;
    for (const auto& block : needs.blocks) {
        const double share = static_cast<double>(batch) * static_cast<double>(block.count) /
                             static_cast<double>(all_);
        rows_.push_back(block.count);
        samples_.push_back(full_ ? block.count
                                 : std::clamp<std::int64_t>(std::llround(share), 1, block.count));
        total_ += samples_.back();
    }
}

std::int64_t Batches::samples(const Part& part) const
{
    std::int64_t sum = 0;
    for (const auto& item : part.items)
        sum += item.is_product() ? item.rows.count : samples(item.block);
    return sum;
}

std::int64_t Batches::samples(const Budget& budget, const Part& part) const
{
    if (budget.samples == 0) return samples(part);
    const bool descends = part.items[0].operation == Item::Operation::descent;
    return budget.samples * (descends ? samples(part) : 1);
}

}  // namespace quorate
