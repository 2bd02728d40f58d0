// SPDX-License-Identifier: BSD-2-Clause
#include "transport/endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quorate::transport {

std::optional<Message> Endpoint::receive()
{
    if (ready_.empty()) advance();
    if (ready_.empty()) return std::nullopt;
    auto message = std::move(ready_.front());
    ready_.pop_front();
    return message;
}

std::optional<Message> Endpoint::take_from(int rank)
{
    advance();
    const auto at = std::ranges::find(ready_, rank, &Message::from);
    if (at == ready_.end()) return std::nullopt;
    auto message = std::move(*at);
    ready_.erase(at);
    return message;
}

Message Endpoint::receive_from(int rank)
{
    restart_wait();
    for (bool last_look = false;; wait()) {
        if (auto message = take_from(rank)) return std::move(*message);
        // What it sent before it ended may have come between the looks at messages and at the end.
        if (last_look)
            throw Unreachable(fmt::format("rank {} has ended, or cannot be reached", rank));
        last_look = has_ended(rank) || is_unreachable(rank);
    }
}

Message Endpoint::receive_any()
{
    for (restart_wait();; wait())
        if (auto message = receive()) return std::move(*message);
}

void Endpoint::flush()
{
    restart_wait();
    for (advance(); is_sending(); advance()) wait();
}

}  // namespace quorate::transport
