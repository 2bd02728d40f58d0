// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "scheme/types.hpp"

namespace quorate {

/// Who takes part, and who of them still owes an answer. O(1) a change.
class MembershipTable {
public:
    enum class Status : std::uint8_t { active, away, dead, loading };

    explicit MembershipTable(std::size_t workers) : all_(workers) {}

    std::size_t size() const { return all_.size(); }
    Status status(Worker worker) const { return at(worker).status; }
    bool active(Worker worker) const { return status(worker) == Status::active; }
    std::vector<Worker> all(Status status) const
    {
        std::vector<Worker> some;
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (all_[i].status == status) some.push_back(static_cast<Worker>(i));
        return some;
    }
    void set(Worker worker, Status status) { set(worker, {status, at(worker).newest}); }

    /// A worker owes what it was asked last: what came before it, it has done or dropped by then.
    void asked(Worker worker, TaskId task) { set(worker, {at(worker).status, task}); }
    /// It has answered this task in full, or nobody wants the answer any more.
    void settled(Worker worker, TaskId task)
    {
        if (at(worker).newest == task) set(worker, {at(worker).status, nothing});
    }
    /// Whether anything can still come of those who take part.
    bool anybody_owes() const { return owing_ > 0; }

private:
    static constexpr TaskId nothing = -1;
    struct One {
        Status status = Status::active;
        TaskId newest = nothing;  // not yet answered
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
    std::int64_t owing_ = 0;
};

}  // namespace quorate
