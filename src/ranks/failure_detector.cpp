// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/failure_detector.hpp"

#include <algorithm>
#include <utility>

namespace quorate {

FailureDetector::FailureDetector(const transport::Endpoint& endpoint, Seconds timeout,
                                 std::function<Seconds()> clock)
    : endpoint_(endpoint), ranks_(static_cast<std::size_t>(endpoint.size())), timeout_(timeout),
      clock_(std::move(clock)), last_look_(clock_())
{
}

Seconds FailureDetector::looked()
{
    const auto moment = std::max(timeout_ / 20, 0.1);
    const auto now = clock_();
    looked_ += std::min(now - last_look_, moment);
    last_look_ = now;
    return looked_;
}

void FailureDetector::is_alive(int rank)
{
    auto& one = ranks_[static_cast<std::size_t>(rank)];
    one.last_message = std::max(one.last_message, looked());
    one.allowed = 0;
}

void FailureDetector::extend_grace(int rank)
{
    ranks_[static_cast<std::size_t>(rank)].last_message = looked() + 9 * timeout_;
}

void FailureDetector::end_grace(int rank)
{
    auto& one = ranks_[static_cast<std::size_t>(rank)];
    one.last_message = std::min(one.last_message, looked());
}

void FailureDetector::allow(int rank, Seconds seconds)
{
    auto& one = ranks_[static_cast<std::size_t>(rank)];
    one.allowed = std::max(one.allowed, seconds);
}

bool FailureDetector::should_ping(int rank)
{
    auto& one = ranks_[static_cast<std::size_t>(rank)];
    const auto now = looked();
    if (now - std::max(one.last_message, one.last_ping) < timeout_ / 4) return false;
    one.last_ping = now;
    return true;
}

bool FailureDetector::is_dead(int rank)
{
    const auto& one = ranks_[static_cast<std::size_t>(rank)];
    return endpoint_.has_ended(rank) || endpoint_.is_unreachable(rank) ||
           looked() - one.last_message > timeout_ + one.allowed;
}

Seconds FailureDetector::silence(int rank)
{
    if (endpoint_.has_ended(rank) || endpoint_.is_unreachable(rank)) return never;
    return looked() - ranks_[static_cast<std::size_t>(rank)].last_message;
}

bool FailureDetector::is_suspect(int rank)
{
    return looked() - ranks_[static_cast<std::size_t>(rank)].last_message > timeout_ / 2;
}

}  // namespace quorate
