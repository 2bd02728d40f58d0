// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/poison.hpp"
#include "fleet/fleet.hpp"

namespace quorate {

/// Vectors that are used again, because fresh memory costs a page fault every 4 KiB. Vectors are
/// taken by one thread, but the last owner of one may be on any thread.
class VectorPool {
public:
    /// @param like    a vector of as many elements, of the same type
    /// @param stock   vectors to make in advance, with their memory touched
    /// @param memory  where they lie; must outlive all vectors; null: on the heap
    VectorPool(ConstNumbers like, std::size_t stock, PointMemory* memory = nullptr)
        : shelf_(std::make_shared<Shelf>()), width_(like.size()), precision_(like.precision()),
          memory_(memory)
    {
        for (; stock > 0; --stock) shelf_->free.push_back(make());
    }

    /// Returns a vector to be filled; its values are left over from earlier use. When its last
    /// owner drops it, and no worker reads it any more, its memory becomes free for the next one.
    std::shared_ptr<NumberVector> blank()
    {
        auto values = free_one();
        if (!values) values = make();
        const auto give_back = [shelf = std::weak_ptr(shelf_)](NumberVector* used) {
            std::unique_ptr<NumberVector> owned(used);
            if (const auto home = shelf.lock()) {
                const std::lock_guard lock(home->mutex);
                home->free.push_back(std::move(owned));
            }
        };
        return {values.release(), give_back};
    }

private:
    using Owned = std::unique_ptr<NumberVector>;
    struct Shelf {
        std::mutex mutex;
        std::vector<Owned> free;
    };
    Owned make() const
    {
        std::pmr::memory_resource* memory = memory_;
        return std::make_unique<NumberVector>(width_, precision_,
                                              memory ? memory : std::pmr::new_delete_resource());
    }
    // The one that was used last, because a cache may still hold it; null: there is none.
    Owned free_one()
    {
        const std::lock_guard lock(shelf_->mutex);  // the trace's thread drops iterates
        auto& free = shelf_->free;
        const auto at = std::find_if(free.rbegin(), free.rend(), [this](const Owned& one) {
            return !memory_ || !memory_->is_read(one->address());
        });
        if (at == free.rend()) return nullptr;
        auto found = std::move(*at);
        free.erase(std::next(at).base());
        poison(*found);
        return found;
    }

    std::shared_ptr<Shelf> shelf_;
    std::size_t width_;
    Precision precision_;
    PointMemory* memory_;
};

/// The published points that a task or a model still names. A point is immutable once it is
/// published. Local; used by the engine's thread.
class Points {
public:
    /// Publishes a point as the newest of a model, and returns its version. O(log points).
    Version publish(Point point, int model = 0)
    {
        const auto number = next_++;
        alive_.emplace_hint(alive_.end(), number, Alive{std::move(point)});
        const auto m = static_cast<std::size_t>(model);
        if (m >= newest_.size()) newest_.resize(m + 1, -1);
        const auto before = std::exchange(newest_[m], number);
        if (before >= 0) forget_unless_named(alive_.find(before));
        return number;
    }
    /// Returns a point. @throws std::out_of_range if it is gone
    const Point& at(Version number) const { return alive_.at(number).point; }
    /// Returns all points that are alive.
    std::map<Version, Point> all() const
    {
        std::map<Version, Point> points;
        for (const auto& [number, one] : alive_)
            points.emplace_hint(points.end(), number, one.point);
        return points;
    }
    /// Returns the newest version of a model that has one.
    Version newest(int model = 0) const { return newest_[static_cast<std::size_t>(model)]; }
    /// The version that publish() gives out next.
    Version next() const { return next_; }
    /// Keeps a point alive until let_go() is called as often. The newest point of each model lives
    /// anyway.
    void name(Version number) { ++alive_.at(number).names; }
    /// Undoes one name().
    void let_go(Version number)
    {
        const auto at = alive_.find(number);
        --at->second.names;
        if (std::ranges::find(newest_, number) == newest_.end()) forget_unless_named(at);
    }

private:
    struct Alive {
        Point point;
        int names = 0;
    };
    void forget_unless_named(std::map<Version, Alive>::iterator at)
    {
        if (at->second.names == 0) alive_.erase(at);
    }
    std::map<Version, Alive> alive_;
    std::vector<Version> newest_;  // of each model
    Version next_ = 0;
};

}  // namespace quorate
