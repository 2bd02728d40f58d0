// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <utility>

namespace quorate {

/// Keeps the values that were used last. A value stays where it is until it is dropped.
template <class Key, class Value>
class LruCache {
public:
    explicit LruCache(std::size_t capacity) : capacity_(capacity) {}

    /// The value of a key, which is now the last used; nullptr if it is not kept. O(log n).
    const Value* find(const Key& key)
    {
        const auto at = index_.find(key);
        if (at == index_.end()) return nullptr;
        entries_.splice(entries_.begin(), entries_, at->second);
        return &at->second->second;
    }

    /// Keeps a value whose key is not there, and drops the one not used for longest if need be.
    const Value* insert(const Key& key, Value value)
    {
        if (entries_.size() == capacity_) {
            index_.erase(entries_.back().first);
            entries_.pop_back();
        }
        entries_.emplace_front(key, std::move(value));
        index_[key] = entries_.begin();
        return &entries_.front().second;
    }

private:
    using Entries = std::list<std::pair<Key, Value>>;
    std::size_t capacity_;
    Entries entries_;  // last used first
    std::map<Key, typename Entries::iterator> index_;
};

}  // namespace quorate
