// SPDX-License-Identifier: BSD-2-Clause
// Checkpoints in the memory of the ranks (--memory-checkpoint-every), beside those in a file. A
// state has a part for each share of the parameters. The share's owner keeps the part, and so does
// the owner of the next share: so a state outlives one host. Rank 0's part also has what is not a
// vector. No rank waits for another: a copy leaves in pieces with the rounds that follow, and the
// coordinator begins no state before all parts of the one before are kept twice.
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
class StateParts {
public:
    /// @param every  rounds, as memory_interval_of() has it
    /// @param optimizers  must outlive this object
    /// @param share       of the parameters that these have; none: all
    StateParts(std::int64_t every, const Optimizers& optimizers,
               const std::optional<ShareRange>& share, StateKeepers keepers);
    /// Makes the part of the state after the last update. O(parameters of the share).
    void make(const Snapshot& snapshot);
    /// Sends a piece of it, after each update. O(1).
    void send_piece();

private:
    std::int64_t every_;
    const Optimizers& optimizers_;
    std::optional<ShareRange> share_;
    StateKeepers keepers_;
    transport::Pool pool_;
    StatePieces pieces_;
};

/// What the coordinator says and knows of states in memory.
struct StateLead {
    StateKeepers keepers;                        // of its own part
    std::function<void(const Snapshot&)> begin;  // tells the other owners to make their parts
    // Whether the state that was begun last is; true before it. Called after each update.
    std::function<bool()> is_whole;
};

/// Says when a state is made. For the coordinator.
class MemoryCheckpoints {
public:
    /// @param every, optimizers, share  as those of StateParts
    MemoryCheckpoints(std::int64_t every, const Optimizers& optimizers,
                      const std::optional<ShareRange>& share, StateLead lead)
        : every_(every), parts_(every, optimizers, share, lead.keepers), lead_(std::move(lead))
    {
    }
    /// Takes the state after an update: begins one in memory if it is due, and sends a piece. The
    /// first one is due at once. O(1), or O(parameters of the share) if one is due.
    void stands(const Snapshot& snapshot);
    /// Whether there is a state that is whole.
    bool has_whole() const { return begun_ && (has_before_ || lead_.is_whole()); }

private:
    std::int64_t every_;
    StateParts parts_;
    StateLead lead_;
    std::optional<std::int64_t> begun_;  // round of the newest state
    bool has_before_ = false;            // there is one before it
};

/// Joins the parts of a state, by share. Its vectors stay in the parts.
/// @throws Failure if they do not fit together
Checkpoint join_parts(std::vector<std::shared_ptr<transport::Bytes>> parts);

}  // namespace quorate
