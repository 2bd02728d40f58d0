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

/// The published points that somebody still names. Immutable once published; their memory is used
/// again, since fresh memory costs a page fault every 4 KiB.
class Points {
public:
    /// @param width  elements of a point
    /// @param stock  vectors to make in advance, their memory touched
    Points(std::size_t width, std::size_t stock) : shelf_(std::make_shared<Shelf>()), width_(width)
    {
        for (; stock > 0; --stock)
            shelf_->free.push_back(std::make_unique<std::vector<double>>(width, 0.0));
    }

    /// A vector to be filled; what is in it is left over. It returns to the shelf with its last owner.
    std::shared_ptr<std::vector<double>> blank()
    {
        std::unique_ptr<std::vector<double>> values;
        {
            const std::lock_guard lock(shelf_->mutex);  // the trace's thread lets go of iterates
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

    /// The next version, of that model.
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
    const Point& at(Version number) const { return alive_.at(number).point; }
    /// All that are alive, ascending by version.
    std::map<Version, Point> all() const
    {
        std::map<Version, Point> points;
        for (const auto& [number, one] : alive_)
            points.emplace_hint(points.end(), number, one.point);
        return points;
    }
    Version newest(int model = 0) const { return newest_[static_cast<std::size_t>(model)]; }
    /// The version that publish() gives out next.
    Version next() const { return next_; }
    /// A point lives while it is the newest of its model, or held.
    void hold(Version number) { ++alive_.at(number).holders; }
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
