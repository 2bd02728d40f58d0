// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "base/seconds.hpp"

namespace quorate {

/// The events of a simulation in their order: a calendar queue (Brown, CACM 31(10), 1988) whose
/// days are as short as events are dense. Events of the day stand in a heap, those of each later
/// day in a list, and those beyond in one list, of which days are made when the others are over. So
/// an event costs the same however many there are, and only events so close together that they
/// fall into one day are compared, in O(log(events of the day)). Local.
/// @tparam Event  has `time`, and an order > of which times decide first
template <class Event>
class EventQueue {
public:
    bool empty() const { return size_ == 0; }

    void push(const Event& event)
    {
        if (++size_ > most_) give_up_days();
        const auto day = day_of(event);
        if (day > day_ && day < days_) {
            later_[static_cast<std::size_t>(day)].push_back(event);
        } else if (day > day_) {
            beyond_.push_back(event);
        } else {
            today_.push_back(event);
            std::push_heap(today_.begin(), today_.end(), std::greater<>());
        }
    }
    /// The first event. Only if not empty().
    /// @param soon  called with events that come soon: all of a day when the day before begins
    template <class Soon>
    const Event& top(Soon&& soon)
    {
        while (today_.empty()) begin_day(soon);
        return today_.front();
    }
    /// Drops the first event, after top().
    void pop()
    {
        --size_;
        std::pop_heap(today_.begin(), today_.end(), std::greater<>());
        today_.pop_back();
    }

private:
    // Never descends with the time, so that events of a later day are later.
    double day_of(const Event& event) const
    {
        return std::floor((event.time - begin_) * days_a_second_);
    }

    template <class Soon>
    void begin_day(Soon&& soon)
    {
        if (++day_ >= days_) make_days();
        const auto day = static_cast<std::size_t>(day_);
        std::swap(today_, later_[day]);
        std::make_heap(today_.begin(), today_.end(), std::greater<>());
        if (day_ + 1 < days_)
            for (const auto& event : later_[day + 1]) soon(event);
    }

    // Puts all events beyond, because the days are too long for so many. Else the events of a
    // round, which come all at once, would stand in the last few days of the round before.
    void give_up_days()
    {
        beyond_.insert(beyond_.end(), today_.begin(), today_.end());
        today_.clear();
        for (auto& day : later_) {
            beyond_.insert(beyond_.end(), day.begin(), day.end());
            day.clear();
        }
        begin_ = -std::numeric_limits<Seconds>::infinity();
        days_a_second_ = std::numeric_limits<double>::infinity();
        days_ = 0;
        day_ = -1;
        most_ = std::numeric_limits<std::size_t>::max();
    }

    // Makes days of the events beyond: about half of these fall into the first half of the days,
    // however far away the last ones are.
    void make_days()
    {
        constexpr double events_a_day = 8;
        constexpr std::size_t few = 64;
        most_ = 2 * beyond_.size() + few;
        std::array<Seconds, 64> sample{};
        const auto size = std::min(sample.size(), beyond_.size());
        for (std::size_t i = 0; i < size; ++i) sample[i] = beyond_[i * beyond_.size() / size].time;
        const auto median = sample.begin() + size / 2;
        std::nth_element(sample.begin(), median, sample.begin() + size);
        begin_ = std::ranges::min_element(beyond_, {}, &Event::time)->time;
        day_ = 0;
        days_ = std::ceil(static_cast<double>(beyond_.size()) / events_a_day);
        // Infinite if most events are at the same time: that time is the only day then.
        days_a_second_ = days_ / (2 * (*median - begin_));
        later_.resize(std::max(later_.size(), static_cast<std::size_t>(days_)));
        std::erase_if(beyond_, [this](const Event& event) {
            const auto day = day_of(event);
            if (day >= days_) return false;
            later_[day > 0 ? static_cast<std::size_t>(day) : 0].push_back(event);
            return true;
        });
    }

    std::vector<Event> today_;               // a heap
    std::vector<std::vector<Event>> later_;  // by day
    std::vector<Event> beyond_;              // later than the days
    Seconds begin_ = 0;                      // of day 0
    double days_a_second_ = std::numeric_limits<double>::infinity();
    double days_ = 0, day_ = -1;  // whole numbers, as wide as the quotients that they come from
    std::size_t size_ = 0;
    // So many events are the days for.
    std::size_t most_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace quorate
