// SPDX-License-Identifier: BSD-2-Clause
#pragma once

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

    void publish(Version number, Point point) { alive_[number] = std::move(point); }
    const Point& at(Version number) const { return alive_.at(number); }
    Version newest() const { return alive_.rbegin()->first; }
    /// Lets go of all points before that one.
    void forget_before(Version number) { alive_.erase(alive_.begin(), alive_.lower_bound(number)); }

private:
    struct Shelf {
        std::mutex mutex;
        std::vector<std::unique_ptr<std::vector<double>>> free;
    };
    std::shared_ptr<Shelf> shelf_;
    std::size_t width_;
    std::map<Version, Point> alive_;
};

}  // namespace quorate
