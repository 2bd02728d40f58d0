// SPDX-License-Identifier: BSD-2-Clause
// What a worker keeps of a task for its next ones (LocalState in scheme/types.hpp): the state of
// the optimiser of local steps, and what a compressed contribution lacks.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "optimizer/optimizer.hpp"
#include "scheme/types.hpp"

namespace quorate {

/// What the next local steps depend on beside the model at which they begin. O(p).
class InnerState {
public:
    InnerState() = default;
    explicit InnerState(Optimizer& optimizer)
        : own_(optimizer.state()), updates_(optimizer.updates())
    {
        const auto memory = optimizer.memory();
        for (std::size_t i = 1; i < memory.size(); ++i) vectors_.emplace_back(memory[i]);
    }
    /// Sets it in an optimiser that was just made, of the same kind.
    void set(Optimizer& optimizer) const
    {
        const auto memory = optimizer.memory();
        for (std::size_t i = 0; i < vectors_.size(); ++i) copy(vectors_[i], memory[i + 1]);
        optimizer.updates() = updates_;
        if (!own_.empty()) optimizer.set_state(own_);
    }

private:
    std::vector<NumberVector> vectors_;  // Optimizer::memory() without the model
    std::string own_;
    long updates_ = 0;
};

/// What a task leaves.
struct TaskState {
    InnerState inner = {};
    NumberVector unsent = {};  // what its contribution lacks, with error feedback; empty: nothing
};

/// Whether this task, or one of its worker that comes later, may name the state of another task.
inline bool may_name(const LocalState& local, TaskId state)
{
    return state == local.after || state >= local.kept;
}

/// Where a task finds the state that it goes on from, and where it leaves its own.
struct StatePlaces {
    const TaskState* from = nullptr;  // null: it begins anew
    TaskState* to = nullptr;          // null: nowhere
};

/// The states that one worker keeps, by the tasks that left them. Local.
class TaskStates {
public:
    /// Returns the places of a task, and drops the states that no later task names. Valid until the
    /// next task begins.
    StatePlaces of(TaskId task, const LocalState& local)
    {
        if (task < local.kept) return {};
        std::erase_if(states_, [&](const auto& one) { return !may_name(local, one.first); });
        StatePlaces places;
        if (local.after >= 0) {
            const auto found = states_.find(local.after);
            if (found == states_.end())
                throw Failure(
                    "a worker is to go on from a state that it does not have: report "
                    "this as a bug");
            places.from = &found->second;
        }
        places.to = &states_[task];
        return places;
    }
    void clear() { states_.clear(); }

private:
    std::map<TaskId, TaskState> states_;
};

}  // namespace quorate
