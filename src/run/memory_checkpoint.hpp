// SPDX-License-Identifier: BSD-2-Clause
// Checkpoints in the memory of the ranks (--memory-checkpoint-every), beside those in a file. A
// state has a part for each share of the parameters. The share's owner keeps the part, and so does
// the owner of the next share: so a state outlives one host. Rank 0's part also has what is not a
// vector. No rank waits for another: all make their parts after the same update, because their
// engines follow the same events, and a copy leaves in pieces with the rounds that follow.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/snapshot.hpp"
#include "ranks/state_copies.hpp"
#include "run/checkpoint.hpp"

namespace quorate {

/// Reads --memory-checkpoint-every: rounds; none: there are no such checkpoints.
/// @throws BadInput if it is no number of rounds, or too few
std::optional<std::int64_t> memory_interval_of(const Settings& settings);

/// Where the parts of a rank go. Both take a `state_piece` and return at once.
struct StateKeepers {
    using Keep = std::function<void(std::shared_ptr<transport::Bytes>)>;
    Keep own;   // a part in one piece
    Keep next;  // the pieces of its copy, for another rank
    std::int64_t share = 0, shares = 1;
};

/// Makes the parts of one share while the run goes on. For the thread of its engine.
class MemoryCheckpoints {
public:
    /// @param every  rounds, as memory_interval_of() has it
    /// @param optimizers  must outlive this object
    /// @param share       of the parameters that these have; none: all
    /// @param round       after which the run begins or goes on
    MemoryCheckpoints(std::int64_t every, const Optimizers& optimizers,
                      const std::optional<ShareRange>& share, StateKeepers keepers,
                      std::int64_t round);
    /// Takes the state after an update: makes a part of it if one is due, and sends a piece. O(1),
    /// or O(parameters of the share) if one is due.
    /// @return whether one was
    bool stands(const Snapshot& snapshot);
    /// Whether a part has been sent, so that the state may be whole.
    bool has_sent() const { return sent_; }

private:
    std::int64_t every_;
    const Optimizers& optimizers_;
    std::optional<ShareRange> share_;
    StateKeepers keepers_;
    std::int64_t begun_;  // round of the newest part
    bool sent_ = false;
    transport::Pool pool_;
    StatePieces pieces_;
};

/// Joins the parts of a state, by share. Its vectors stay in the parts.
/// @throws Failure if they do not fit together
Checkpoint join_parts(std::vector<std::shared_ptr<transport::Bytes>> parts);

}  // namespace quorate
