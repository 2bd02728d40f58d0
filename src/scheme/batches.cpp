// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/batches.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/random.hpp"

namespace quorate {

Batches::Batches(const Needs& needs, std::uint64_t seed, std::int64_t batch)
    : seed_(seed), full_(batch == 0)
{
    std::int64_t all = 0;
    for (const auto& block : needs.blocks) all += block.count;
    for (const auto& block : needs.blocks) {
        const double share = static_cast<double>(batch) * static_cast<double>(block.count) /
                             static_cast<double>(all);
        rows_.push_back(block.count);
        samples_.push_back(full_ ? block.count
                                 : std::clamp<std::int64_t>(std::llround(share), 1, block.count));
        total_ += samples_.back();
    }
}

std::int64_t Batches::samples(const Part& part) const
{
    std::int64_t sum = 0;
    for (const auto& item : part.items) sum += samples(item.block);
    return sum;
}

std::vector<std::int64_t> Batches::draw(int block, std::int64_t draw) const
{
    // Floyd: one random number for each sample, and no list of all rows.
    const auto all = rows(block);
    Stream stream(seed_, Purpose::samples, static_cast<std::uint32_t>(block),
                  static_cast<std::uint32_t>(draw));
    std::unordered_set<std::int64_t> taken;
    for (auto last = all - samples(block); last < all; ++last) {
        const auto row =
            static_cast<std::int64_t>(stream.below(static_cast<std::size_t>(last + 1)));
        taken.insert(taken.contains(row) ? last : row);
    }
    std::vector<std::int64_t> rows(taken.begin(), taken.end());
    std::ranges::sort(rows);
    return rows;
}

}  // namespace quorate
