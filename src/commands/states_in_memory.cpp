// SPDX-License-Identifier: BSD-2-Clause
#include "commands/states_in_memory.hpp"

#include <algorithm>
#include <ranges>

#include "ranks/messages.hpp"
#include "run/memory_checkpoint.hpp"
#include "transport/clock.hpp"

namespace quorate {

StatesInMemory::StatesInMemory(transport::Endpoint& endpoint, const StateCopies& own,
                               const Hellos& hellos, Seconds patience)
    : endpoint_(endpoint), own_(own), hellos_(hellos), patience_(patience)
{
    auto parts = own.whole();
    for (const auto& some : hellos.states) parts.insert(some.begin(), some.end());
    states_ = whole_states(parts);
}

// Null: whoever has it does not answer.
std::shared_ptr<transport::Bytes> StatesInMemory::fetch(const StatePart& part)
{
    if (auto mine = own_.find(part)) return mine;
    // Those that have spoken, but for this rank.
    const auto others = hellos_.left | std::views::drop(1);
    for (std::size_t i = 0; i < hellos_.states.size(); ++i) {
        if (!hellos_.states[i].contains(part)) continue;
        const int rank = others[i];
        endpoint_.send(rank, transport::Tag::state_wanted, encode_values(endpoint_.pool(), part));
        const auto answer = endpoint_.receive_from(rank, clock_seconds() + patience_);
        if (answer && answer->tag == transport::Tag::state_piece) return answer->bytes;
    }
    return nullptr;
}

std::optional<Checkpoint> StatesInMemory::next()
{
    while (!states_.empty()) {
        const auto [round, shares] = states_.front();
        states_.erase(states_.begin());
        std::vector<std::shared_ptr<transport::Bytes>> parts;
        for (std::int64_t share = 0; share < shares; ++share)
            if (auto part = fetch({round, share, shares})) parts.push_back(std::move(part));
        if (std::ssize(parts) == shares) return join_parts(std::move(parts));
    }
    return std::nullopt;
}

}  // namespace quorate
