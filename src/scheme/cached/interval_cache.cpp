// SPDX-License-Identifier: BSD-2-Clause
#include "scheme/cached/interval_cache.hpp"

#include <algorithm>

namespace quorate {

namespace {

bool overlap(const CachedInterval& a, const CachedInterval& b)
{
    return a.first < b.first + b.count && b.first < a.first + a.count;
}

}  // namespace

template <class Gone>
void IntervalCache::evict(Worker worker, Gone gone, std::vector<CachedInterval>& evicted)
{
    std::erase_if(entries_[worker], [&](const CachedInterval& one) {
        if (!gone(one)) return false;
        samples_ -= one.samples;
        rows_ -= one.rows;
        --size_;
        evicted.push_back(one);
        return true;
    });
}

bool IntervalCache::insert(Worker worker, const CachedInterval& interval,
                           std::vector<CachedInterval>& evicted)
{
    auto& entries = entries_[worker];
    const bool newest = std::ranges::all_of(entries, [&](const CachedInterval& one) {
        return !overlap(one, interval) || one.version < interval.version;
    });
    if (!newest) return false;
    evict(
        worker, [&](const CachedInterval& one) { return overlap(one, interval); }, evicted);
    entries.push_back(interval);
    samples_ += interval.samples;
    rows_ += interval.rows;
    ++size_;
    return true;
}

void IntervalCache::evict_older(Worker worker, Version version,
                                std::vector<CachedInterval>& evicted)
{
    evict(
        worker, [&](const CachedInterval& one) { return one.version < version; }, evicted);
}

}  // namespace quorate
