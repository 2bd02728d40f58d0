// SPDX-License-Identifier: BSD-2-Clause
#include "transport/endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "transport/clock.hpp"

namespace quorate::transport {

void Endpoint::begin_era(int era)
{
    era_ = era;
    ready_.insert(ready_.begin(), std::make_move_iterator(later_.begin()),
                  std::make_move_iterator(later_.end()));
    later_.clear();
}

// Takes the era off a message's tag. @return whether that is this one  Another message is put away.
bool Endpoint::keep(Message& message)
{
    const int tag = static_cast<int>(message.tag);
    const int era = tag / tags_of_era;
    if (era == era_) {
        message.tag = static_cast<Tag>(tag % tags_of_era);
        return true;
    }
    if (era > era_) later_.push_back(std::move(message));
    return false;
}

std::optional<Message> Endpoint::receive()
{
    if (ready_.empty()) advance();
    while (!ready_.empty()) {
        auto message = std::move(ready_.front());
        ready_.pop_front();
        if (keep(message)) return message;
    }
    return std::nullopt;
}

std::optional<Message> Endpoint::take_from(int rank)
{
    advance();
    for (;;) {
        const auto at = std::ranges::find(ready_, rank, &Message::from);
        if (at == ready_.end()) return std::nullopt;
        auto message = std::move(*at);
        ready_.erase(at);
        if (keep(message)) return message;
    }
}

std::optional<Message> Endpoint::receive_from(int rank, Seconds until)
{
    restart_wait();
    for (bool last_look = false;; wait(until - clock_seconds())) {
        if (auto message = take_from(rank)) return message;
        // What it sent before it ended may have come between the looks at messages and at the end.
        if (last_look) return std::nullopt;
        last_look = has_ended(rank) || is_unreachable(rank) || clock_seconds() >= until;
    }
}

Message Endpoint::receive_from(int rank)
{
    if (auto message = receive_from(rank, never)) return std::move(*message);
    throw Unreachable(fmt::format("rank {} has ended, or cannot be reached", rank));
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
