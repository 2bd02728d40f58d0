// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/coordinator_mailbox.hpp"

#include <utility>

namespace quorate {

transport::Ticket CoordinatorMailbox::post(int rank, transport::Tag tag,
                                           std::shared_ptr<transport::Bytes> bytes)
{
    constexpr Seconds slow = 1e-7;  // for a byte, on a link of 10 MB/s
    detector_.allow(rank, slow * static_cast<double>(bytes->size()));
    return endpoint_.send(rank, tag, std::move(bytes));
}

transport::Ticket CoordinatorMailbox::send(int rank, transport::Tag tag,
                                           std::shared_ptr<transport::Bytes> bytes)
{
    count(bytes->size());
    return post(rank, tag, std::move(bytes));
}

void CoordinatorMailbox::send_aside(int rank, transport::Tag tag,
                                    std::shared_ptr<transport::Bytes> bytes)
{
    post(rank, tag, std::move(bytes));
    endpoint_.ring();
}

std::optional<transport::Message> CoordinatorMailbox::receive()
{
    auto message = endpoint_.receive();
    if (message) detector_.is_alive(message->from);
    return message;
}

void CoordinatorMailbox::ping(int rank)
{
    if (detector_.should_ping(rank)) send_aside(rank, transport::Tag::ping, pool().take(0));
}

bool CoordinatorMailbox::has_died(int rank)
{
    const bool dead = detector_.is_dead(rank);
    has_dead_ranks_ |= dead;
    has_lost_ranks_ |= dead && !endpoint_.has_ended(rank);
    if (dead) endpoint_.forsake(rank);
    return dead;
}

}  // namespace quorate
