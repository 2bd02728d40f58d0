// SPDX-License-Identifier: BSD-2-Clause
#include "transport/survivors.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace quorate::transport {

namespace {

int place_of(const std::vector<int>& ranks, int rank)
{
    return static_cast<int>(std::ranges::find(ranks, rank) - ranks.begin());
}

}  // namespace

Survivors::Survivors(Endpoint& behind, std::vector<int> ranks, int era)
    : Endpoint(place_of(ranks, behind.rank()), static_cast<int>(ranks.size()), behind.host()),
      behind_(behind), ranks_(std::move(ranks)), era_(era)
{
    behind_.begin_era(era);
    for (int rank = 0; rank < behind_.size(); ++rank)
        if (!std::ranges::binary_search(ranks_, rank)) behind_.forsake(rank);
}

Ticket Survivors::send(int to, Tag tag, std::shared_ptr<Bytes> bytes)
{
    return behind_.send(behind(to), in_era(tag, era_), std::move(bytes));
}

void Survivors::advance()
{
    while (auto message = behind_.receive()) {
        message->from = place_of(ranks_, message->from);
        if (message->from < size()) ready_.push_back(std::move(*message));
    }
}

void Survivors::die()
{
    behind_.die();
    std::abort();  // never comes here; for the compiler
}

}  // namespace quorate::transport
