// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <map>

#include "ranks/share_messages.hpp"

namespace quorate {

/// Joins the slices of the vectors of checkpoints: the coordinator's, and those that the other
/// owners send. Local; never waits.
class WholeStates {
public:
    /// What receives whole vectors.
    using Take = std::function<void(PointList)>;

    /// Begins the next checkpoint with the coordinator's slices. Vectors with as many elements as
    /// its share has are slices; the others are whole, and the same everywhere. O(parameters).
    /// @param take  is called when the slices of all owners have come
    void begin(const Shares& shares, const PointList& slices, Take take);
    /// Takes the slices of an owner. Those of a checkpoint that was given up are dropped.
    void put(const Shares& shares, const StateSlice& slice);
    /// Whether all are whole.
    bool is_done() const { return states_.empty(); }
    /// Gives up those that are not.
    void clear() { states_.clear(); }

private:
    // A vector that is joined, or the coordinator's.
    struct Vector {
        std::shared_ptr<NumberVector> joined;
        Point own = {};
    };
    struct State {
        std::vector<Vector> vectors;
        std::size_t slices = 0;  // that have come
        Take take;
    };

    std::map<std::int64_t, State> states_;  // by number
    std::int64_t number_ = 0;               // of the last one
};

}  // namespace quorate
