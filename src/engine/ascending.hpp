// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace quorate {

/// Elements in the order of their ids, which ascend as elements are added. An element that is
/// dropped leaves its place behind, so that the ids mostly have no gaps and an element is found
/// where its id says. Empty places before all elements are given up when they are the larger part,
/// and those in between when they are three times as many as the elements. Pointers to elements are
/// valid until the next element is added. Local. `Element` has the members `id` and `gone`.
template <class Element>
class Ascending {
public:
    /// Adds an element, with a larger id than all before. Amortised O(1).
    Element& add(Element element)
    {
        if (2 * first_ > all_.size()) {
            all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
            dropped_ -= first_;
            first_ = 0;
        } else if (dropped_ > 3 * (all_.size() - dropped_) + least_) {
            std::erase_if(all_, [](const Element& one) { return one.gone; });
            dropped_ = first_ = 0;
        }
        all_.push_back(std::move(element));
        return all_.back();
    }
    /// Drops an element. Amortised O(1).
    void drop(Element& element)
    {
        element.gone = true;
        ++dropped_;
        while (first_ < all_.size() && all_[first_].gone) ++first_;
    }
    /// Drops all elements. Keeps the memory.
    void clear()
    {
        all_.clear();
        dropped_ = first_ = 0;
    }
    /// Where an element stands if the ids have no gaps; null: it is not there then. Does not look
    /// at the element. O(1).
    Element* guess(std::int64_t id)
    {
        if (all_.empty() || id < all_.front().id || id - all_.front().id >= std::ssize(all_))
            return nullptr;
        return &all_[static_cast<std::size_t>(id - all_.front().id)];
    }
    /// Finds the element of that id; null: there is none. O(1) if the ids have no gaps, else
    /// O(log elements).
    Element* find(std::int64_t id)
    {
        auto* at = guess(id);
        if (!at || at->id != id) {
            const auto next = std::ranges::lower_bound(all_, id, {}, &Element::id);
            at = next != all_.end() && next->id == id ? &*next : nullptr;
        }
        return at && !at->gone ? at : nullptr;
    }
    /// Calls f(element) for each element that is there, with an id of first..last, in their order.
    /// f may drop it. O(log elements + places in between).
    template <class F>
    void for_range(std::int64_t first, std::int64_t last, F f)
    {
        const auto* guessed = guess(first);
        auto at = guessed && guessed->id == first
                      ? all_.begin() + (guessed - all_.data())
                      : std::ranges::lower_bound(all_, first, {}, &Element::id);
        for (; at != all_.end() && at->id <= last; ++at)
            if (!at->gone) f(*at);
    }
    /// Calls f(element) for each element that is there, in their order. f may drop it.
    template <class F>
    void for_each(F f)
    {
        for (auto i = first_; i < all_.size(); ++i)
            if (!all_[i].gone) f(all_[i]);
    }
    template <class F>
    void for_each(F f) const
    {
        for (auto i = first_; i < all_.size(); ++i)
            if (!all_[i].gone) f(all_[i]);
    }

private:
    std::vector<Element> all_;
    static constexpr std::size_t least_ = 64;  // so many empty places do not matter
    std::size_t dropped_ = 0;                  // places that are empty
    std::size_t first_ = 0;                    // of them, those before all elements
};

}  // namespace quorate
