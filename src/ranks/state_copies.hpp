// SPDX-License-Identifier: BSD-2-Clause
// Copies of the state of a run in the memory of its ranks: checkpoints that need no file. Whoever
// has a share of the parameters (run/memory_checkpoint) keeps its part of the state, and another
// rank, on another host if there is one, keeps a copy. Everything here is local.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "transport/bytes.hpp"

namespace quorate {

/// What part of which state.
struct StatePart {
    std::int64_t round;   // after which the state was
    std::int64_t share;   // whose slices the part has
    std::int64_t shares;  // into which the parameters were cut; 1: the coordinator has all
    auto operator<=>(const StatePart&) const = default;
};

/// How a `state_piece` begins: `bytes` bytes of a part follow, from `first` on, of `whole`.
struct StatePiece {
    StatePart part;
    std::int64_t whole, first, bytes;
};
/// Where they begin in the message: aligned for doubles.
inline constexpr std::size_t state_piece_head = (sizeof(StatePiece) + 7) / 8 * 8;

/// Cuts a part into pieces that leave one after the other, so that a part does not keep a link from
/// what rounds send.
class StatePieces {
public:
    StatePieces() = default;
    /// @param part    as make_part() returned it
    /// @param pieces  as many, or fewer if they would be empty
    StatePieces(std::shared_ptr<transport::Bytes> part, std::int64_t pieces);
    bool has_more() const { return part_ && first_ < part_->size() - state_piece_head; }
    /// Returns the next one. O(its size).
    std::shared_ptr<transport::Bytes> next(transport::Pool& pool);

private:
    std::shared_ptr<transport::Bytes> part_;
    std::size_t first_ = 0, most_ = 0;
};

/// The parts that a rank keeps: those of its own, and those of another rank. Of states older than
/// the newest two nothing is kept, because the newest is begun when the one before is whole.
class StateCopies {
public:
    /// Takes a `state_piece`. The pieces of a part come in their order. O(its size), or O(1) of a
    /// part in one piece.
    /// @return the part, if it is whole now  @throws Failure if it is damaged
    std::optional<StatePart> take(std::shared_ptr<transport::Bytes> message);
    /// The parts that are whole.
    std::set<StatePart> whole() const;
    /// Returns a part that is whole, with the head of its message; null: there is none.
    std::shared_ptr<transport::Bytes> find(const StatePart& part) const;
    /// The run goes on from the state after this round: what came later is over.
    void forget_after(std::int64_t round);

private:
    struct Copy {
        std::shared_ptr<transport::Bytes> message;
        std::shared_ptr<transport::Bytes> growing;  // while it is not whole
        std::size_t has = 0;                        // bytes
    };
    std::map<StatePart, Copy> parts_;
};

/// Returns the newest states of which some parts are all: of each the round, and into how many
/// shares it was cut. Newest first. @param parts  that ranks have
std::vector<std::pair<std::int64_t, std::int64_t>> whole_states(const std::set<StatePart>& parts);

}  // namespace quorate
