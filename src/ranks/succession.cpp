// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/succession.hpp"

#include "ranks/messages.hpp"

namespace quorate {

bool Succession::take(const transport::Message& message)
{
    if (message.tag == transport::Tag::orphan) {
        dead_for_.insert(message.from);
        return true;
    }
    if (message.tag != transport::Tag::regroup) return false;
    left_ = MessageReader(*message.bytes).get_list<std::vector<int>>();
    return true;
}

bool Succession::is_there(int rank) const
{
    return !endpoint_.has_ended(rank) && !endpoint_.is_unreachable(rank);
}

// Messages of other kinds are dropped: nobody waits for what they ask for.
template <class Done>
void Succession::receive_until(Seconds at_most, const Done& done)
{
    const auto end = clock_seconds() + at_most;
    for (endpoint_.restart_wait(); left_.empty() && !done();) {
        const auto now = clock_seconds();
        if (now > end) return;
        if (const auto message = endpoint_.receive())
            take(*message);
        else
            endpoint_.wait(end - now);
    }
}

std::vector<int> Succession::agree()
{
    endpoint_.forsake(0);
    const int own = endpoint_.rank();
    const auto told = endpoint_.pool().take(0);
    for (int rank = 1; rank < endpoint_.size(); ++rank) {
        if (rank == own) continue;
        endpoint_.expect(rank);
        if (is_there(rank)) endpoint_.send(rank, transport::Tag::orphan, told);
    }
    endpoint_.ring();
    const auto all_have_spoken = [&] {
        for (int rank = 1; rank < endpoint_.size(); ++rank)
            if (rank != own && is_there(rank) && !dead_for_.contains(rank)) return false;
        return true;
    };
    receive_until(2 * timeout_ + 1, all_have_spoken);
    dead_for_.insert(own);
    if (*dead_for_.begin() < own) {
        // The next coordinator may have begun to wait when this rank had spoken.
        receive_until(3 * timeout_ + 1, [] { return false; });
        return left_;
    }
    if (!left_.empty()) return left_;
    if (2 * std::ssize(dead_for_) <= endpoint_.size()) return {};
    left_.assign(dead_for_.begin(), dead_for_.end());
    const auto bytes =
        make_message(endpoint_.pool(), [&](MessageWriter& out) { out.put_list(left_); });
    for (int rank = 1; rank < endpoint_.size(); ++rank)
        if (!dead_for_.contains(rank))
            endpoint_.forsake(rank);
        else if (rank != own)
            endpoint_.send(rank, transport::Tag::regroup, bytes);
    endpoint_.ring();
    endpoint_.flush();
    return left_;
}

}  // namespace quorate
