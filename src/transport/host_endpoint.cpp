// SPDX-License-Identifier: BSD-2-Clause
#include "transport/host_endpoint.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace quorate::transport {

namespace {

constexpr Seconds polling = 1e-3;  // longest sleep where nobody rings

}  // namespace

HostEndpoint::HostEndpoint(Endpoint& behind, Doorbells bells, std::vector<Channel> channels,
                           Seconds longest)
    : Endpoint(behind.rank(), behind.size(), behind.host()), behind_(behind),
      bells_(std::move(bells)), channels_(std::move(channels)), backoff_(polling, &bells_, longest)
{
    for (int other = 0; other < size(); ++other) {
        if (has_channel(other))
            with_channel_.push_back(other);
        else if (other != rank() && (rank() == 0 || other == 0))
            all_in_channels_ = false;
    }
}

Ticket HostEndpoint::send(int to, Tag tag, std::shared_ptr<Bytes> bytes)
{
    to_ring_.push_back(to);
    if (!has_channel(to)) return behind_.send(to, tag, std::move(bytes));
    auto& channel = channels_[static_cast<std::size_t>(to)];
    if (bytes->size() <= Ring::longest) return Ticket(channel.send(tag, std::move(bytes)));
    auto sent = behind_.send(to, tag, std::move(bytes));
    return {sent, channel.announce(tag)};
}

void HostEndpoint::ring()
{
    behind_.ring();
    for (const int rank : to_ring_) bells_.ring(rank);
    to_ring_.clear();
}

bool HostEndpoint::awaits_other_way() const
{
    return std::ranges::any_of(with_channel_, [this](int rank) {
        return channels_[static_cast<std::size_t>(rank)].awaits_other_way();
    });
}

void HostEndpoint::take_from_channels()
{
    const auto before = std::ssize(ready_);
    for (const int rank : with_channel_) {
        auto& channel = channels_[static_cast<std::size_t>(rank)];
        while (auto message = channel.receive(rank, pool(), bells_))
            ready_.push_back(std::move(*message));
    }
    // In the order in which they were sent: schemes that wait for the first answers must not prefer
    // some ranks.
    std::ranges::stable_sort(ready_.begin() + before, ready_.end(), {}, &Message::sent);
}

void HostEndpoint::advance()
{
    take_from_channels();
    if (all_in_channels_ && !awaits_other_way() && !behind_.is_sending()) return;
    bool turn = false;
    while (auto message = behind_.receive()) {
        if (has_channel(message->from)) {
            turn = true;
            channels_[static_cast<std::size_t>(message->from)].take(std::move(*message));
        } else {
            ready_.push_back(std::move(*message));
        }
    }
    if (turn) take_from_channels();
}

void HostEndpoint::wait(Seconds at_most)
{
    ring();
    // No bell rings for the parts of a message that is under way.
    const bool under_way = behind_.is_receiving() || behind_.is_sending() || awaits_other_way();
    if (under_way && !under_way_) behind_.restart_wait();
    under_way_ = under_way;
    if (under_way)
        behind_.wait(at_most);
    else
        backoff_.wait(at_most, rings());
}

// For what this rank's bell rings.
Backoff::Rings HostEndpoint::rings()
{
    if (bells_.all_ring())
        return all_in_channels_ ? Backoff::Rings::all_there : Backoff::Rings::all;
    return relies_ ? Backoff::Rings::most : Backoff::Rings::nothing;
}

void HostEndpoint::restart_wait()
{
    behind_.restart_wait();
    backoff_.reset();
}

bool HostEndpoint::is_sending() const
{
    return behind_.is_sending() || std::ranges::any_of(with_channel_, [this](int rank) {
               return channels_[static_cast<std::size_t>(rank)].is_sending();
           });
}

bool HostEndpoint::is_receiving() const { return behind_.is_receiving() || awaits_other_way(); }

void HostEndpoint::forsake(int rank)
{
    behind_.forsake(rank);
    // One that is only slow may speak again.
    if (has_ended(rank)) std::erase(with_channel_, rank);
}

void HostEndpoint::expect(int rank)
{
    behind_.expect(rank);
    if (rank != this->rank() && !has_channel(rank)) all_in_channels_ = false;
}

void HostEndpoint::die()
{
    behind_.die();
    std::abort();  // never comes here; for the compiler
}

bool HostEndpoint::has_ended(int rank) const
{
    return behind_.has_ended(rank) || bells_.gone(rank);
}

}  // namespace quorate::transport
