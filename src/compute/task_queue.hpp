// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "scheme/types.hpp"

namespace quorate {

/// The tasks of one worker: the running one and those that follow it. What "replaces", "follows",
/// "repeats" and "cancelled" mean is written here, for the workers of every fleet. Local; O(1) a call where
/// at most one task waits.
/// @tparam Task  has id(), follows() and repeats(): it does not replace the others; it runs again unless
///               another follows it
template <class Task>
class TaskQueue {
public:
    bool is_running() const { return running_.has_value(); }
    bool has_next() const { return !next_.empty(); }
    Task& running() { return *running_; }
    const Task& running() const { return *running_; }

    /// A task has come: it drops all others, or follows the running one in place of what waits to repeat.
    /// @param drop  called before the running task is dropped
    template <class Drop>
    void add(Task task, Drop&& drop)
    {
        if (task.follows())
            std::erase_if(next_, [](const Task& waiting) { return waiting.repeats(); });
        else
            cancel(task.id(), std::forward<Drop>(drop));
        next_.push_back(std::move(task));
    }
    /// Drops all tasks up to this one.
    template <class Drop>
    void cancel(TaskId last, Drop&& drop)
    {
        std::erase_if(next_, [last](const Task& waiting) { return waiting.id() <= last; });
        if (!running_ || running_->id() > last) return;
        drop();
        running_.reset();
    }
    /// The next task runs.
    void begin()
    {
        running_ = std::move(next_.front());
        next_.erase(next_.begin());
    }
    /// The running task has ended.
    void finish()
    {
        auto done = std::move(*running_);
        running_.reset();
        if (done.repeats() && next_.empty()) next_.push_back(std::move(done));
    }
    /// Whether a task that runs or waits is like that.
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
