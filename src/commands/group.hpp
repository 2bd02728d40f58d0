// SPDX-License-Identifier: BSD-2-Clause
// The ranks of a job that take part in its run: first all of them, and after a loss those that are
// left, which go back to the newest checkpoint.
#pragma once

#include <optional>
#include <vector>

#include "base/settings.hpp"
#include "ranks/state_copies.hpp"
#include "transport/clock.hpp"
#include "transport/survivors.hpp"

namespace quorate {

/// Each rank has one, and all have the same. Local.
class Group {
public:
    /// @param world  of all ranks of the job; must outlive this object
    explicit Group(transport::Endpoint& world) : world_(world), began_(clock_seconds()) {}
    transport::Endpoint& endpoint()
    {
        if (left_) return *left_;
        return world_;
    }
    /// How often it has become smaller.
    int losses() const { return losses_; }
    /// Whether it may become smaller once more.
    bool may_shrink() const { return losses_ + 1 < transport::Endpoint::most_eras; }
    /// Goes on with some ranks, ascending, as endpoint() numbers them. What it returned is gone.
    void shrink(std::vector<int> ranks);
    /// Returns the options with which a run of these goes on with so many ranks.
    Settings to_go_on(Settings settings, std::size_t ranks) const;
    /// What this rank keeps for going back.
    StateCopies& states() { return states_; }

private:
    transport::Endpoint& world_;
    Seconds began_;
    std::optional<transport::Survivors> left_;
    int losses_ = 0;
    StateCopies states_;
};

}  // namespace quorate
