// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <set>
#include <vector>

#include "transport/clock.hpp"
#include "transport/endpoint.hpp"

namespace quorate {

/// How the ranks of a run agree who is left when rank 0, the coordinator, is dead. A rank that
/// finds it dead says so to all others. Each of these says the same when it has heard nothing of
/// the coordinator for the timeout. The least of the ranks that have spoken is the next
/// coordinator, and tells the others who is left. They need a quorum, more than half of the ranks
/// that the run had last: so of two parts of a network that do not reach each other one goes on at
/// most. Local: one for each rank but 0.
class Succession {
public:
    /// @param endpoint  must outlive this object
    /// @param timeout   seconds
    Succession(transport::Endpoint& endpoint, Seconds timeout)
        : endpoint_(endpoint), timeout_(timeout)
    {
    }

    /// Takes a message. @return whether it was for this object
    bool take(const transport::Message& message);
    /// The ranks that are left, as the coordinator or the next one has said; empty: neither has.
    const std::vector<int>& left() const { return left_; }
    /// Whether another rank has said that the coordinator is dead.
    bool is_asked() const { return !left_.empty() || !dead_for_.empty(); }
    /// Whether this rank says so, too, where it is asked.
    /// @param silence  of the coordinator, seconds
    bool agrees(Seconds silence) const { return !left_.empty() || silence > timeout_; }
    /// Says that the coordinator is dead, and waits until the others have, for some timeouts.
    /// @return the ranks that are left, this one among them, ascending; empty: there is no quorum
    std::vector<int> agree();

private:
    bool is_there(int rank) const;
    template <class Done>
    void receive_until(Seconds at_most, const Done& done);

    transport::Endpoint& endpoint_;
    Seconds timeout_;
    std::set<int> dead_for_;  // ranks that have said that the coordinator is dead
    std::vector<int> left_;   // as left() has them
};

}  // namespace quorate
