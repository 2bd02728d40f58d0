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

}  // namespace quorate
