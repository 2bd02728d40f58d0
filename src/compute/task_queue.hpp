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
    bool is_running() const { return running_.has_value(); }
    bool has_next() const { return !next_.empty(); }
    /// The running task. Only if is_running().
    Task& running() { return *running_; }
    const Task& running() const { return *running_; }

    /// Adds a task. A task that does not follow drops all tasks up to its own number. One that
    /// follows drops only those that wait to repeat.
    /// @param drop  called before the running task is dropped, if it is
    template <class Drop>
    void add(Task task, Drop&& drop)
    {
        if (task.follows())
            std::erase_if(next_, [](const Task& waiting) { return waiting.repeats(); });
        else
            cancel(task.id(), std::forward<Drop>(drop));
        next_.push_back(std::move(task));
    }
    /// Drops all tasks up to this number.
    /// @param drop  called before the running task is dropped, if it is
    template <class Drop>
    void cancel(TaskId last, Drop&& drop)
    {
        std::erase_if(next_, [last](const Task& waiting) { return waiting.id() <= last; });
        if (!running_ || running_->id() > last) return;
        drop();
        running_.reset();
    }
    /// Makes the next task the running one. Only if has_next() and not is_running().
    void begin()
    {
        running_ = std::move(next_.front());
        next_.erase(next_.begin());
    }
    /// Ends the running task. If it repeats and no other task waits, it waits to run again.
    void finish()
    {
        auto done = std::move(*running_);
        running_.reset();
        if (done.repeats() && next_.empty()) next_.push_back(std::move(done));
    }
    /// Whether the predicate holds for a task that runs or waits.
    template <class Predicate>
    bool any_of(Predicate&& predicate) const
    {
        return (running_ && predicate(*running_)) || std::ranges::any_of(next_, predicate);
    }

private:
    std::optional<Task> running_;
    std::vector<Task> next_;
};

}  // namespace quorate
