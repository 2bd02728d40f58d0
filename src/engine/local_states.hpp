// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <string>
#include <vector>

#include "scheme/types.hpp"

namespace quorate {

/// Says with which state a task begins in its worker: with that which the worker's newest task that
/// a step has used has left. So what the run did not use leaves no trace, and a replay knows all
/// states. Tasks that repeat, or have several parts, begin anew and leave none.
class LocalStates {
public:
    /// Returns what a task is told.
    LocalState of(Worker worker, TaskId task)
    {
        const auto& [after, open] = at(worker);
        if (std::ranges::find(open, task) == open.end()) return {};
        return {after, open.front()};
    }
    /// Why a task that is opened next can have no memory of what its contributions lack; empty: it
    /// can. Such a worker must know what became of its last contribution.
    std::string why_no_memory(const Dispatch& task)
    {
        const auto& parts = task.plan->parts;
        if (task.control.repeat) return "has workers repeat tasks";
        if (parts.size() != 1) return "has workers send several contributions for a task";
        if (!is_sum(parts[0])) return "has workers keep gradients";
        if (!at(task.worker).open.empty())
            return "gives a worker a task before it knows whether the last one is used";
        return "";
    }
    /// A task is opened, with a number that ascends for each worker.
    /// @param sums  whether sums of gradients leave states too, beside local steps
    /// @return what it is told
    LocalState opened(const Dispatch& task, bool sums = false)
    {
        const auto& parts = task.plan->parts;
        if (task.control.repeat || parts.size() != 1 || parts[0].items.empty() ||
            !(sums ? is_sum(parts[0]) : is_descent(parts[0])))
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
    static bool is_descent(const Part& part)
    {
        return part.items[0].operation == Item::Operation::descent;
    }
    // Whether a part is computed anew as a whole, or is empty.
    static bool is_sum(const Part& part)
    {
        return part.items.empty() || is_descent(part) ||
               (part.items[0].operation == Item::Operation::gradient && !part.held);
    }

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
