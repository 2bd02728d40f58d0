// SPDX-License-Identifier: BSD-2-Clause
#include "transport/relay.hpp"

#include <utility>

namespace quorate::transport {

void Relay::deliver(Message message)
{
    {
        const std::lock_guard lock(mutex_);
        delivered_.push_back(std::move(message));
    }
    changed_.notify_one();
}

bool Relay::pass_on(const std::function<void(int, Tag, std::shared_ptr<Bytes>)>& send)
{
    std::deque<Posted> posted;
    {
        const std::lock_guard lock(mutex_);
        posted.swap(posted_);
    }
    for (auto& [to, tag, bytes] : posted) send(to, tag, std::move(bytes));
    return !posted.empty();
}

void Relay::close()
{
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_one();
}

void Relay::post(int to, Tag tag, std::shared_ptr<Bytes> bytes)
{
    {
        const std::lock_guard lock(mutex_);
        posted_.push_back({to, tag, std::move(bytes)});
    }
    wake_();
}

Message Relay::receive()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !delivered_.empty(); });
    if (closed_) throw Closed();
    auto message = std::move(delivered_.front());
    delivered_.pop_front();
    return message;
}

}  // namespace quorate::transport
