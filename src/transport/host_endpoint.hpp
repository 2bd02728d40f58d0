// SPDX-License-Identifier: BSD-2-Clause
// Messages past another transport, between the coordinator and the ranks of its host: short ones in
// rings, and a bell that wakes their reader.
#pragma once

#include <vector>

#include "transport/backoff.hpp"
#include "transport/channel.hpp"
#include "transport/endpoint.hpp"

namespace quorate::transport {

/// An endpoint before another one, which carries what is too long for a ring and the messages of
/// ranks without a channel.
class HostEndpoint final : public Endpoint {
public:
    /// @param behind    must outlive this object; nobody else takes messages from it meanwhile
    /// @param channels  by rank; those that are not present, and ranks beyond the last one, have
    ///        none
    /// @param longest   sleep of a wait without a bell, seconds
    HostEndpoint(Endpoint& behind, Doorbells bells, std::vector<Channel> channels, Seconds longest);

    Ticket send(int to, Tag tag, std::shared_ptr<Bytes> bytes) override;
    void ring() override;
    bool wakes() const override { return bells_.present(); }
    void advance() override;
    void wait(Seconds at_most = never) override;
    void restart_wait() override;
    bool is_sending() const override;
    bool is_receiving() const override;
    void forsake(int rank) override;
    void expect(int rank) override;
    bool has_ended(int rank) const override;
    bool is_unreachable(int rank) const override { return behind_.is_unreachable(rank); }
    [[noreturn]] void die() override;

private:
    bool has_channel(int rank) const
    {
        const auto at = static_cast<std::size_t>(rank);
        return at < channels_.size() && channels_[at].present();
    }
    void take_from_channels();
    bool awaits_other_way() const;

    Endpoint& behind_;
    Doorbells bells_;
    std::vector<Channel> channels_;
    std::vector<int> with_channel_;  // ranks that messages are taken from
    bool all_in_channels_ = true;    // all ranks that are expected have one
    Backoff backoff_;
    std::vector<int> to_ring_;
};

}  // namespace quorate::transport
