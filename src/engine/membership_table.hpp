// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "base/prefetch.hpp"
#include "scheme/types.hpp"

namespace quorate {

/// Which workers take part, and which of these still owe an answer. Local. A change is O(1).
class MembershipTable {
public:
    enum class Status : std::uint8_t {
        active,  // takes part
        away,    // has left with notice, and may join again
        dead,
        loading  // dead, but a standby rank is loading its shard
    };

    /// All workers are active at first, and owe nothing.
    explicit MembershipTable(std::size_t workers) : all_(workers) {}

    std::size_t size() const { return all_.size(); }
    Status status(Worker worker) const { return at(worker).status; }
    bool active(Worker worker) const { return status(worker) == Status::active; }
    /// Returns the workers of that status, ascending. O(workers).
    std::vector<Worker> all(Status status) const
    {
        std::vector<Worker> some;
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (all_[i].status == status) some.push_back(static_cast<Worker>(i));
        return some;
    }
    /// Sets a worker's status. What it owes stays, and counts again once it is active.
    void set(Worker worker, Status status) { set(worker, {status, at(worker).newest}); }

    /// Notes that a worker owes this task from now on, and no earlier one: by the time it begins
    /// the newest, it has done or dropped those before.
    void asked(Worker worker, TaskId task) { set(worker, {at(worker).status, task}); }
    /// Notes that a worker has answered a task in full, or that the task is closed.
    void settled(Worker worker, TaskId task)
    {
        if (at(worker).newest == task) set(worker, {at(worker).status, nothing});
    }
    /// Fetches what is known of a worker into the cache.
    void fetch_ahead(Worker worker) const { prefetch(&at(worker)); }
    /// Whether any active worker still owes an answer. O(1).
    bool anybody_owes() const { return owing_ > 0; }

private:
    static constexpr TaskId nothing = -1;
    struct One {
        Status status = Status::active;
        TaskId newest = nothing;  // the task that it owes
        bool owes() const { return status == Status::active && newest != nothing; }
    };
    const One& at(Worker worker) const { return all_[static_cast<std::size_t>(worker)]; }
    void set(Worker worker, One one)
    {
        auto& before = all_[static_cast<std::size_t>(worker)];
        owing_ += one.owes() - before.owes();
        before = one;
    }

    std::vector<One> all_;
    std::int64_t owing_ = 0;  // active workers that owe an answer
};

}  // namespace quorate
