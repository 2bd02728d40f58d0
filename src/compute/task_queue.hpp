// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "scheme/types.hpp"

namespace quorate {

/// The tasks of one worker: the running one and those that follow it. The workers of every fleet
/// use it, so that "replaces", "follows", "repeats" and "cancelled" mean the same everywhere.
/// Local; O(tasks that wait) a call, mostly one.
/// @tparam Task  has id(); follows(): whether it waits for the running task instead of replacing
///               it; and repeats(): whether it runs again until another task follows it
template <class Task>
class TaskQueue {
public:
    bool is_running() const { return running_; }
    bool has_next() const { return running_ ? !rest_.empty() : first_.has_value(); }
    /// The next task. Only if has_next() and not is_running().
    const Task& next() const { return *first_; }
    /// The running task, which stays where it is while it runs. Only if is_running().
    Task& running() { return *first_; }
    const Task& running() const { return *first_; }

    /// Adds a task. A task that does not follow drops all tasks up to its own number. One that
    /// follows drops only those that wait to repeat.
    /// @param drop  called before the running task is dropped, if it is
    template <class Drop>
    void add(Task task, Drop&& drop)
    {
        if (task.follows())
            drop_waiting([](const Task& waiting) { return waiting.repeats(); });
        else
            cancel(task.id(), std::forward<Drop>(drop));
        if (first_)
            rest_.push_back(std::move(task));
        else
            first_.emplace(std::move(task));
    }
    /// Drops all tasks up to this number.
    /// @param drop  called before the running task is dropped, if it is
    template <class Drop>
    void cancel(TaskId last, Drop&& drop)
    {
        if (running_ && first_->id() <= last) {
            drop();
            running_ = false;
        }
        drop_waiting([last](const Task& waiting) { return waiting.id() <= last; });
    }
    /// Makes the next task the running one. Only if has_next() and not is_running().
    void begin() { running_ = true; }
    /// Ends the running task. If it repeats and no other task waits, it waits to run again.
    void finish()
    {
        running_ = false;
        if (!first_->repeats() || !rest_.empty()) drop_first();
    }
    /// Whether the predicate holds for a task that runs or waits.
    template <class Predicate>
    bool any_of(Predicate&& predicate) const
    {
        return (first_ && predicate(*first_)) || std::ranges::any_of(rest_, predicate);
    }

private:
    template <class Predicate>
    void drop_waiting(Predicate&& predicate)
    {
        std::erase_if(rest_, predicate);
        if (!running_ && first_ && predicate(*first_)) drop_first();
    }
    void drop_first()
    {
        first_.reset();
        if (rest_.empty()) return;
        first_.emplace(std::move(rest_.front()));
        rest_.erase(rest_.begin());
    }

    std::optional<Task> first_;  // runs, or is the next
    bool running_ = false;
    std::vector<Task> rest_;  // tasks that wait behind it
};

}  // namespace quorate
