// SPDX-License-Identifier: BSD-2-Clause
#include "compute/cached_gradients.hpp"

#include <algorithm>

#include "compute/begin_work.hpp"

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

Losses add_up(const Part& part, std::span<const CachedGradient* const> cached, Numbers sum)
{
    Losses losses;
    clear(sum);
    for (std::size_t item = 0; item < cached.size(); ++item) {
        const double coefficient = part.items[item].coefficient;
        add(coefficient, cached[item]->values, sum);
        losses += {cached[item]->loss, coefficient * cached[item]->loss};
    }
    return losses;
}

void GradientCache::clear()
{
    cached_.clear();
    pending_.reset();
}

std::vector<CacheUpdate> GradientCache::updates(const Part& part, const Versions& inputs) const
{
    std::map<int, Version> versions;
    for (const auto& [block, gradient] : cached_) versions[block] = gradient.version;
    std::optional<std::pair<int, Version>> begun;
    if (pending_) begun = {pending_->part.items[0].block, pending_->gradient.version};
    return cache_updates(part, inputs, versions, begun);
}

void GradientCache::retain(const Part& part, std::span<const CacheUpdate> updates)
{
    std::erase_if(cached_, [&](const auto& one) {
        return std::ranges::find(part.items, one.first, &Item::block) == part.items.end();
    });
    if (pending_ &&
        std::ranges::none_of(updates, [&](const CacheUpdate& one) { return pending_->is(one); }))
        pending_.reset();
}

Work& GradientCache::update(const CacheUpdate& update, LocalPoint point, std::int64_t key,
                            const Computing& computing, const StoredRows& stored)
{
    if (pending_ && pending_->is(update)) return *pending_->work;
    pending_ = std::make_unique<Pending>();
    pending_->part.items = {Item{.block = update.item->block}};
    pending_->point = std::move(point);
    pending_->gradient = {
        .version = update.version,
        .values = NumberVector(pending_->point.values.size(), pending_->point.values.precision())};
    pending_->work = begin_work(computing, stored, pending_->part, {{pending_->point.values, key}},
                                {}, pending_->gradient.values);
    return *pending_->work;
}

void GradientCache::store()
{
    auto& gradient = pending_->gradient;
    gradient.samples = pending_->work->samples();
    gradient.loss = pending_->work->losses().plain;
    cached_[pending_->part.items[0].block] = std::move(gradient);
    pending_.reset();
}

std::vector<const CachedGradient*> GradientCache::of(const Part& part) const
{
    std::vector<const CachedGradient*> gradients;
    for (const auto& item : part.items) gradients.push_back(&cached_.at(item.block));
    return gradients;
}

}  // namespace quorate
