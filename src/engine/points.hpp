// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "fleet/fleet.hpp"

namespace quorate {

/// The published points that a task or a model still names. A point is immutable once it is
/// published. Memory is used again, because fresh memory costs a page fault every 4 KiB. Local;
/// used by the engine's thread, but the last owner of a vector may be on any thread.
class Points {
public:
    /// @param width  elements of a point
    /// @param stock  vectors to make in advance, with their memory touched
    Points(std::size_t width, std::size_t stock) : shelf_(std::make_shared<Shelf>()), width_(width)
    {
        for (; stock > 0; --stock)
            shelf_->free.push_back(std::make_unique<std::vector<double>>(width, 0.0));
    }

    /// Returns a vector to be filled; its values are left over from earlier use. When its last
    /// owner drops it, its memory becomes free for the next one.
    std::shared_ptr<std::vector<double>> blank()
    {
        std::unique_ptr<std::vector<double>> values;
        {
            const std::lock_guard lock(shelf_->mutex);  // the trace's thread drops iterates
            if (!shelf_->free.empty()) {
                values = std::move(shelf_->free.back());
                shelf_->free.pop_back();
            }
        }
        if (!values) values = std::make_unique<std::vector<double>>(width_);
        const auto give_back = [shelf = std::weak_ptr(shelf_)](std::vector<double>* used) {
            std::unique_ptr<std::vector<double>> owned(used);
            if (const auto home = shelf.lock()) {
                const std::lock_guard lock(home->mutex);
                home->free.push_back(std::move(owned));
            }
        };
        return {values.release(), give_back};
    }

    /// Publishes a point as the newest of a model, and returns its version. O(log points).
    Version publish(Point point, int model = 0)
    {
        const auto number = next_++;
        alive_.emplace_hint(alive_.end(), number, Alive{std::move(point)});
        const auto m = static_cast<std::size_t>(model);
        if (m >= newest_.size()) newest_.resize(m + 1, -1);
        const auto before = std::exchange(newest_[m], number);
        if (before >= 0) forget_unless_held(alive_.find(before));
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
    void hold(Version number) { ++alive_.at(number).holders; }
    /// Undoes one hold().
    void let_go(Version number)
    {
        const auto at = alive_.find(number);
        --at->second.holders;
        if (std::ranges::find(newest_, number) == newest_.end()) forget_unless_held(at);
    }

private:
    struct Alive {
        Point point;
        int holders = 0;
    };
    void forget_unless_held(std::map<Version, Alive>::iterator at)
    {
        if (at->second.holders == 0) alive_.erase(at);
    }
    // Vectors that are free to be used again.
    struct Shelf {
        std::mutex mutex;
        std::vector<std::unique_ptr<std::vector<double>>> free;
    };
    std::shared_ptr<Shelf> shelf_;
    std::size_t width_;
    std::map<Version, Alive> alive_;
    std::vector<Version> newest_;  // of each model
    Version next_ = 0;
};

}  // namespace quorate
