// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <vector>

#include "scheme/types.hpp"

namespace quorate {

/// Says where the optimisers of local steps begin in each worker: where its newest task that a step
/// has used left them. So what the run did not use leaves no trace, and a replay knows all states.
/// Tasks that repeat, or have several parts, begin anew and leave none.
class LocalStates {
public:
    /// Returns what a task is told.
    LocalState of(Worker worker, TaskId task)
    {
        const auto& [after, open] = at(worker);
        if (std::ranges::find(open, task) == open.end()) return {};
        return {after, open.front()};
    }
    /// A task is opened, with a number that ascends for each worker. @return what it is told
    LocalState opened(const Dispatch& task)
    {
        const auto& parts = task.plan->parts;
        if (task.control.repeat || parts.size() != 1 || parts[0].items.empty() ||
            parts[0].items[0].operation != Item::Operation::descent)
            return {};
        at(task.worker).open.push_back(task.task);
        return of(task.worker, task.task);
    }
    void closed(Worker worker, TaskId task)
    {
        auto& open = at(worker).open;
        open.erase(std::remove(open.begin(), open.end(), task), open.end());
    }
    /// A step uses a contribution to a task that is not closed.
    void used(Worker worker, TaskId task)
    {
        auto& own = at(worker);
        if (std::ranges::find(own.open, task) != own.open.end())
            own.after = std::max(own.after, task);
    }
    /// The worker has lost its state.
    void lost(Worker worker) { at(worker).after = -1; }
    void all_lost()
    {
        for (auto& own : by_worker_) own.after = -1;
    }

private:
    struct Own {
        TaskId after = -1;
        boost::container::small_vector<TaskId, 1> open;
    };
    Own& at(Worker worker)
    {
        const auto index = static_cast<std::size_t>(worker);
        if (index >= by_worker_.size()) by_worker_.resize(index + 1);
        return by_worker_[index];
    }
    std::vector<Own> by_worker_;
};

}  // namespace quorate
