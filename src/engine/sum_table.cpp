// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sum_table.hpp"

namespace quorate {

std::int64_t SumTable::nodes(std::int64_t slots)
{
    std::int64_t all = 0;
    do {
        slots = (slots + fan - 1) / fan;
        all += slots;
    } while (slots > 1);
    return all;
}

SumTable::SumTable(int slots) : slots_(static_cast<std::size_t>(slots))
{
    int first = 0, below = 0, below_end = slots;
    do {
        const int end = first + std::max(1, (below_end - below + fan - 1) / fan);
        levels_.push_back({first, end, below, below_end});
        below = first;
        first = below_end = end;
    } while (below_end - below > 1);
    const auto count = static_cast<std::size_t>(first);
    totals_.resize(count);
    dirty_.resize(count);
    changed_.resize(count, true);
    for (int node = 0; node < first; ++node) changed_nodes_.push_back(node);
}

std::pair<int, int> SumTable::children(int node) const
{
    const auto level =
        std::ranges::find_if(levels_, [&](const Level& one) { return node < one.end; });
    const int first = level->below + (node - level->begin) * fan;
    return {first, std::min(first + fan, level->below_end)};
}

// Marks the parent of a slot or a node, on this level.
void SumTable::mark(std::size_t level, int child)
{
    auto& up = levels_[level];
    const int node = up.begin + (child - up.below) / fan;
    if (std::exchange(dirty_[static_cast<std::size_t>(node)], true) == 0) up.dirty.push_back(node);
}

void SumTable::count(const Entries& entries, int by)
{
    for (const auto& one : entries) {
        const auto worker = static_cast<std::size_t>(one.worker);
        if (worker >= of_worker_.size()) of_worker_.resize(worker + 1);
        auto& own = of_worker_[worker];
        workers_ -= own > 0;
        own += by;
        workers_ += own > 0;
    }
}

void SumTable::fill(int slot, double weight, Entries entries)
{
    auto& to = slots_.at(static_cast<std::size_t>(slot));
    count(to.entries, -1);
    count(entries, 1);
    to = {weight, std::move(entries)};
    mark(0, slot);
}

void SumTable::remove(int slot, ContributionId id)
{
    auto& entries = slots_[static_cast<std::size_t>(slot)].entries;
    const auto at = std::ranges::find(entries, id, &Entry::id);
    count({*at}, -1);
    entries.erase(at);
    mark(0, slot);
}

const SumTable::Totals& SumTable::totals()
{
    for (std::size_t level = 0; level < levels_.size(); ++level) {
        for (const int node : levels_[level].dirty) {
            Totals sum;
            const auto [first, last] = children(node);
            for (int child = first; child < last; ++child)
                if (level > 0)
                    sum.add(totals(child));
                else
                    for (const auto& one : slot(child).entries) sum.add(one.totals);
            const auto place = static_cast<std::size_t>(node);
            totals_[place] = sum;
            dirty_[place] = false;
            if (std::exchange(changed_[place], true) == 0) changed_nodes_.push_back(node);
            if (level + 1 < levels_.size()) mark(level + 1, node);
        }
        levels_[level].dirty.clear();
    }
    return totals_.back();
}

std::vector<int> SumTable::take_changed()
{
    auto nodes = std::exchange(changed_nodes_, {});
    std::ranges::sort(nodes);
    for (const int node : nodes) changed_[static_cast<std::size_t>(node)] = false;
    return nodes;
}

}  // namespace quorate
