// SPDX-License-Identifier: BSD-2-Clause
#include "compute/cached_gradients.hpp"

#include <algorithm>

namespace quorate {

std::vector<CacheUpdate> cache_updates(const Part& part, const Versions& inputs,
                                       const std::map<int, Version>& cached,
                                       std::optional<std::pair<int, Version>> begun)
{
    if (begun && std::find(inputs.begin(), inputs.end(), begun->second) == inputs.end())
        begun.reset();
    const auto version = [&](const Item& item) {
        return begun && begun->first == item.block ? begun->second
                                                   : inputs[static_cast<std::size_t>(item.input)];
    };
    std::vector<CacheUpdate> all;
    for (const auto& item : part.items)
        if (!cached.contains(item.block)) all.push_back({&item, version(item)});
    if (!all.empty()) return all;
    const auto old = [&](const Item& item) { return cached.at(item.block); };
    auto chosen = std::ranges::min_element(part.items, {}, old);
    if (begun)
        if (const auto left = std::ranges::find(part.items, begun->first, &Item::block);
            left != part.items.end() && old(*left) < begun->second)
            chosen = left;
    if (old(*chosen) < version(*chosen)) all.push_back({&*chosen, version(*chosen)});
    return all;
}

Losses add_up(const Part& part, std::span<const CachedGradient* const> cached,
              std::span<double> sum)
{
    Losses losses;
    std::ranges::fill(sum, 0.0);
    for (std::size_t item = 0; item < cached.size(); ++item) {
        const double coefficient = part.items[item].coefficient;
        for (std::size_t i = 0; i < sum.size(); ++i)
            sum[i] += coefficient * cached[item]->values[i];
        losses += {cached[item]->loss, coefficient * cached[item]->loss};
    }
    return losses;
}

}  // namespace quorate
