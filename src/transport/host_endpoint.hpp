// SPDX-License-Identifier: BSD-2-Clause
// Messages past another transport, among the ranks of a host: a bell wakes their reader, and short
// ones between the coordinator and others lie in rings.
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
    /// @param longest   sleep of a rank whose bell rings for all messages, seconds
    HostEndpoint(Endpoint& behind, Doorbells bells, std::vector<Channel> channels, Seconds longest);

    Ticket send(int to, Tag tag, std::shared_ptr<Bytes> bytes) override;
    void ring() override;
    bool wakes() const override { return bells_.with_coordinator(); }
    void advance() override;
    void wait(Seconds at_most = never) override;
    void restart_wait() override;
    void interrupt() override { bells_.ring(rank()); }
    void rely_on_rings(bool relies) override { relies_ = relies; }
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
    Backoff::Rings rings();

    Endpoint& behind_;
    Doorbells bells_;
    std::vector<Channel> channels_;
    std::vector<int> with_channel_;  // ranks that messages are taken from
    bool all_in_channels_ = true;    // all ranks that are expected have one
    bool relies_ = false;            // on others of the host that ring
    bool under_way_ = false;         // something was, during the last wait
    Backoff backoff_;
    std::vector<int> to_ring_;
};

}  // namespace quorate::transport
