// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <deque>
#include <span>
#include <vector>

#include "engine/points.hpp"
#include "scheme/types.hpp"

namespace quorate {

/// Keeps the points alive at which workers may have taken the gradients that they cache. A run that
/// is resumed from a checkpoint computes these gradients again. They were taken for the worker's
/// newest task that is answered in full, as the answer says, or for a later task. Local.
class CachedPoints {
public:
    /// @param points  must outlive this object
    explicit CachedPoints(Points& points) : points_(&points) {}

    /// A task of cached parts is opened, with a number that ascends for each worker.
    void opened(const Dispatch& task)
    {
        at(task.worker).tasks.push_back({task.task, {}, true});
        name(at(task.worker).tasks.back(), task.inputs);
    }
    /// An open task is answered, in part or in full.
    void answered(Worker worker, TaskId task, std::span<const Version> versions, bool in_full)
    {
        auto& own = at(worker);
        const auto one = std::ranges::find(own.tasks, task, &Task::id);
        if (one == own.tasks.end()) return;
        name(*one, versions);
        if (in_full) own.newest = std::max(own.newest, task);
        tidy(own);
    }
    void closed(Worker worker, TaskId task)
    {
        auto& own = at(worker);
        const auto one = std::ranges::find(own.tasks, task, &Task::id);
        if (one == own.tasks.end()) return;
        one->open = false;
        tidy(own);
    }
    /// All workers have lost what they cached.
    void all_lost()
    {
        for (auto& own : by_worker_) {
            if (!own.tasks.empty()) own.newest = own.tasks.back().id + 1;
            tidy(own);
        }
    }

private:
    struct Task {
        TaskId id;
        std::vector<Version> versions;  // each has a name of its own
        bool open;                      // contributions to it may be in use
    };
    struct Own {
        std::deque<Task> tasks;
        TaskId newest = -1;  // no older task's gradients are cached unless its answer says so
    };
    Own& at(Worker worker)
    {
        const auto index = static_cast<std::size_t>(worker);
        if (index >= by_worker_.size()) by_worker_.resize(index + 1);
        return by_worker_[index];
    }
    void name(Task& task, const auto& versions)
    {
        for (const auto version : versions) {
            points_->name(version);
            task.versions.push_back(version);
        }
    }
    void tidy(Own& own)
    {
        std::erase_if(own.tasks, [&](const Task& one) {
            if (one.open || one.id >= own.newest) return false;
            for (const auto version : one.versions) points_->let_go(version);
            return true;
        });
    }

    Points* points_;
    std::vector<Own> by_worker_;
};

}  // namespace quorate
