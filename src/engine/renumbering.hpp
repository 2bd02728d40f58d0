// SPDX-License-Identifier: BSD-2-Clause
// What a scheme calls its workers, tasks and versions, and what the run calls them. A run that was
// re-encoded goes on counting; the new scheme begins at 0.
#pragma once

#include <vector>

#include "scheme/types.hpp"

namespace quorate {

class Renumbering {
public:
    /// The first scheme of a run: nothing differs.
    Renumbering() = default;
    /// @param members   of each worker of the scheme, its number in the run
    /// @param task    the scheme's task 0  @param draw  its draw 0
    /// @param newest  the point of each model, which are the scheme's first versions
    /// @param next    the version of the point that is published next
    Renumbering(std::vector<Worker> members, TaskId task, std::int64_t draw,
                std::vector<Version> newest, Version next)
        : members_(std::move(members)), task_(task), draw_(draw), newest_(std::move(newest)),
          next_(next)
    {
    }

    bool changes_nothing() const { return members_.empty(); }
    Worker run_of(Worker worker) const
    {
        return members_.empty() ? worker : members_[static_cast<std::size_t>(worker)];
    }
    /// @return -1 if the scheme does not know that worker
    Worker scheme_of(Worker worker) const;

    Action to_run(Action action) const;
    Event to_scheme(Event event) const;

private:
    Version run_of(Version version) const;
    Version scheme_of(Version version) const;

    std::vector<Worker> members_;  // none: nothing differs
    TaskId task_ = 0;
    std::int64_t draw_ = 0;
    std::vector<Version> newest_;
    Version next_ = 0;
};

}  // namespace quorate
