// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/pulse.hpp"

#include <algorithm>

#include "mpi/patience.hpp"

namespace quorate {

Pulse::Pulse(int ranks, Seconds timeout, const Doorbells& bells)
    : ranks_(static_cast<std::size_t>(ranks), {clock_seconds(), clock_seconds()}),
      timeout_(timeout), bells_(bells)
{
}

void Pulse::heard(int rank)
{
    auto& one = ranks_[static_cast<std::size_t>(rank)];
    if (one.heard > -never) one.heard = std::max(one.heard, clock_seconds());
}

void Pulse::excuse(int rank)
{
    ranks_[static_cast<std::size_t>(rank)].heard = clock_seconds() + 9 * timeout_;
}

void Pulse::give_up(int rank) { ranks_[static_cast<std::size_t>(rank)].heard = -never; }

bool Pulse::ask(int rank)
{
    auto& one = ranks_[static_cast<std::size_t>(rank)];
    const auto now = clock_seconds();
    if (now - std::max(one.heard, one.asked) < timeout_ / 4) return false;
    one.asked = now;
    return true;
}

bool Pulse::lost(int rank) const
{
    return bells_.gone(rank) ||
           clock_seconds() - ranks_[static_cast<std::size_t>(rank)].heard > timeout_;
}

}  // namespace quorate
