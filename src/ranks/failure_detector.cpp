// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/failure_detector.hpp"

#include <algorithm>

#include "transport/clock.hpp"

namespace quorate {

FailureDetector::FailureDetector(const transport::Endpoint& endpoint, Seconds timeout)
    : endpoint_(endpoint),
      ranks_(static_cast<std::size_t>(endpoint.size()), {clock_seconds(), clock_seconds()}),
      timeout_(timeout)
{
}

void FailureDetector::is_alive(int rank)
{
    auto& one = ranks_[static_cast<std::size_t>(rank)];
    one.last_message = std::max(one.last_message, clock_seconds());
}

void FailureDetector::extend_grace(int rank)
{
    ranks_[static_cast<std::size_t>(rank)].last_message = clock_seconds() + 9 * timeout_;
}

void FailureDetector::end_grace(int rank)
{
    auto& one = ranks_[static_cast<std::size_t>(rank)];
    one.last_message = std::min(one.last_message, clock_seconds());
}

bool FailureDetector::should_ping(int rank)
{
    auto& one = ranks_[static_cast<std::size_t>(rank)];
    const auto now = clock_seconds();
    if (now - std::max(one.last_message, one.last_ping) < timeout_ / 4) return false;
    one.last_ping = now;
    return true;
}

bool FailureDetector::is_dead(int rank) const
{
    return endpoint_.has_ended(rank) || endpoint_.is_unreachable(rank) ||
           clock_seconds() - ranks_[static_cast<std::size_t>(rank)].last_message > timeout_;
}

bool FailureDetector::is_suspect(int rank) const
{
    return clock_seconds() - ranks_[static_cast<std::size_t>(rank)].last_message > timeout_ / 2;
}

}  // namespace quorate
