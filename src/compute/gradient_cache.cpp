// SPDX-License-Identifier: BSD-2-Clause
#include "compute/gradient_cache.hpp"

#include <algorithm>

#include "compute/begin_work.hpp"

namespace quorate {

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

Work& GradientCache::update(const CacheUpdate& update, HeldPoint point, std::int64_t key,
                            const Computing& computing, const HeldRows& held)
{
    if (pending_ && pending_->is(update)) return *pending_->work;
    pending_ = std::make_unique<Pending>();
    pending_->part.items = {Item{.block = update.item->block}};
    pending_->point = std::move(point);
    pending_->gradient = {.version = update.version,
                          .values = std::vector<double>(pending_->point.values.size())};
    pending_->work = begin_work(computing, held, pending_->part, {{pending_->point.values, key}},
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
