// SPDX-License-Identifier: BSD-2-Clause
// The ranks of a job that are left when others are dead, as if there had never been more.
#pragma once

#include <vector>

#include "transport/endpoint.hpp"

namespace quorate::transport {

/// An endpoint before another one, on which some ranks are left and have other numbers. Messages
/// that were sent before are dropped when they come. Each rank that is left makes one, with equal
/// ranks. It sends and receives by the next era of the other one.
class Survivors final : public Endpoint {
public:
    /// @param behind  must outlive this object; nobody else takes messages from it meanwhile
    /// @param ranks   that are left, as `behind` numbers them, ascending; this one is among them
    /// @param era     that begins, less than most_eras
    Survivors(Endpoint& behind, std::vector<int> ranks, int era);

    Ticket send(int to, Tag tag, std::shared_ptr<Bytes> bytes) override;
    void ring() override { behind_.ring(); }
    bool wakes() const override { return behind_.wakes(); }
    void advance() override;
    void wait(Seconds at_most = never) override { behind_.wait(at_most); }
    void restart_wait() override { behind_.restart_wait(); }
    void interrupt() override { behind_.interrupt(); }
    void rely_on_rings(bool relies) override { behind_.rely_on_rings(relies); }
    bool is_sending() const override { return behind_.is_sending(); }
    bool is_receiving() const override { return behind_.is_receiving(); }
    void forsake(int rank) override { behind_.forsake(behind(rank)); }
    void expect(int rank) override { behind_.expect(behind(rank)); }
    bool has_ended(int rank) const override { return behind_.has_ended(behind(rank)); }
    bool is_unreachable(int rank) const override { return behind_.is_unreachable(behind(rank)); }
    [[noreturn]] void die() override;

    /// How `behind` numbers a rank.
    int behind(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

private:
    Endpoint& behind_;
    std::vector<int> ranks_;
    int era_;
};

}  // namespace quorate::transport
