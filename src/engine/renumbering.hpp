// SPDX-License-Identifier: BSD-2-Clause
// Translates the numbers of workers, tasks, draws and versions between a scheme and its run. When a
// run is re-encoded, the run goes on counting, but the new scheme begins at 0.
#pragma once

#include <vector>

#include "scheme/types.hpp"

namespace quorate {

/// The numbers of one scheme in its run. Immutable; local.
class Renumbering {
public:
    /// For the first scheme of a run, whose numbers are the run's. @param workers  of the scheme
    explicit Renumbering(Worker workers) : workers_(workers) {}
    /// For a scheme that a run was re-encoded with.
    /// @param members  for each worker of the scheme, its number in the run, ascending
    /// @param task     the run's number of the scheme's task 0
    /// @param draw     the run's number of the scheme's draw 0
    /// @param newest   for each model, the run's version of its newest point; these are the
    ///                 scheme's first versions
    /// @param next     the run's version of the point that is published next
    Renumbering(std::vector<Worker> members, TaskId task, std::int64_t draw,
                std::vector<Version> newest, Version next)
        : members_(std::move(members)), workers_(static_cast<Worker>(members_.size())), task_(task),
          draw_(draw), newest_(std::move(newest)), next_(next)
    {
    }

    /// Returns the run's number of a worker of the scheme. O(1).
    Worker run_of(Worker worker) const
    {
        return members_.empty() ? worker : members_[static_cast<std::size_t>(worker)];
    }
    /// Returns the scheme's number of a worker of the run; -1: the scheme does not have that
    /// worker. O(log workers).
    Worker scheme_of(Worker worker) const;

    /// Turns an action of the scheme into the run's numbers.
    void to_run(Action& action) const;
    /// Turns an event into the scheme's numbers.
    void to_scheme(Event& event) const;

private:
    Version run_of(Version version) const;
    Version scheme_of(Version version) const;

    std::vector<Worker> members_;  // empty: nothing differs
    Worker workers_;               // of the scheme
    TaskId task_ = 0;
    std::int64_t draw_ = 0;
    std::vector<Version> newest_;
    Version next_ = 0;
};

}  // namespace quorate
