// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/whole_items.hpp"

#include <algorithm>

namespace quorate {

bool can_be_limited(const Budget& budget, const Plan& plan)
{
    if (plan.parts.size() != 1) return false;
    const auto& [items, fold, held] = plan.parts[0];
    if (items.size() == 1) return !held;
    return !items.empty() && !held && fold.empty() && budget.samples == 0 &&
           budget.micro_batch == 0 && std::ranges::all_of(items, [](const Item& item) {
               return item.operation == Item::Operation::gradient;
           });
}

std::optional<std::int64_t> whole_items(const Batches& batches, const Part& part,
                                        std::int64_t samples)
{
    std::int64_t items = 0;
    for (const auto& item : part.items) {
        const auto of_item = batches.samples(item.block);
        if (of_item > samples) break;
        samples -= of_item;
        ++items;
    }
    return samples == 0 ? std::optional(items) : std::nullopt;
}

}  // namespace quorate
