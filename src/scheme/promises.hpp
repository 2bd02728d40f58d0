// SPDX-License-Identifier: BSD-2-Clause
// What schemes promise the engine, which trusts them: checked for schemes that Python defines, and
// for all others by their tests.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "base/error.hpp"
#include "scheme/scheme.hpp"

namespace quorate {

/// The promises of one scheme, checked action by action. Local.
class Promises {
public:
    /// A contribution that no step has ended, and whose task is open.
    struct InUse {
        TaskId task;
        bool head = false;  // its values stay with the worker (Part::held)
        bool kept = false;  // it has outlived a step, or is to
        int slot = -1;      // of the table, which has it
        double weight = 0;  // of the slot
    };

    /// @param name  of the scheme, with which sentences about it begin
    Promises(Needs needs, std::string name) : needs_(std::move(needs)), name_(std::move(name))
    {
        for (Version first = 0; first < needs_.models; ++first) newest_.push_back(first);
    }

    /// Takes note of what the scheme is told.
    void note(const Event& event);
    /// Check an action that follows from it. O(log of what is in use + size of the action); of a
    /// Step or Close, O(all that is in use).
    /// @throws BadInput with the promise that it breaks
    void check(const Dispatch& task);
    void check(const Close& close);
    void check(const Fill& fill);
    void check(const Combine& combine) const;
    void check(const Step& step);
    void check(const SetTimer& timer) const;
    void check(const Note&) const {}
    void check(const Undecodable&) const {}
    const std::map<ContributionId, InUse>& in_use() const { return in_use_; }

private:
    template <class... Values>
    void expect(bool holds, fmt::format_string<Values...> broken, Values&&... values) const
    {
        if (!holds)
            throw BadInput(name_ + " " + fmt::format(broken, std::forward<Values>(values)...));
    }
    void check_points(const Dispatch& task) const;
    void check_part(const Dispatch& task, const Part& part) const;
    void check_item(const Dispatch& task, const Item& item) const;
    void check_terms(const Step& step) const;
    void check_kept() const;
    const InUse& in_use(ContributionId id) const;
    // Returns a contribution that a step adds up or places.
    const InUse& with_values(ContributionId id) const;

    Needs needs_;
    std::string name_;
    TaskId last_task_ = -1;
    std::vector<Version> newest_;      // of each model
    std::map<TaskId, Dispatch> open_;  // without their contributions
    std::map<Version, int> open_of_;   // points that open tasks name: how many do
    std::map<ContributionId, InUse> in_use_;
};

}  // namespace quorate
