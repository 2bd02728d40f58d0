// SPDX-License-Identifier: BSD-2-Clause
// The states of a run that the ranks of its job have in memory, for the coordinator of an attempt.
#pragma once

#include <utility>
#include <vector>

#include "commands/start_up.hpp"
#include "run/resumption.hpp"

namespace quorate {

/// Fetches states from the ranks that keep their parts: before these get their join replies.
class StatesInMemory {
public:
    /// @param endpoint, own, hellos  must outlive this object
    /// @param own       what this rank keeps
    /// @param patience  seconds after which a rank that does not answer is taken for dead
    StatesInMemory(transport::Endpoint& endpoint, const StateCopies& own, const Hellos& hellos,
                   Seconds patience);
    /// Whether there may be one.
    bool has_more() const { return !states_.empty(); }
    /// As NextState. Waits for the parts. Joins them: O(parameters) of memory.
    std::optional<Checkpoint> next();

private:
    std::shared_ptr<transport::Bytes> fetch(const StatePart& part);

    transport::Endpoint& endpoint_;
    const StateCopies& own_;
    const Hellos& hellos_;
    Seconds patience_;
    std::vector<std::pair<std::int64_t, std::int64_t>> states_;  // that are left, the newest first
};

}  // namespace quorate
