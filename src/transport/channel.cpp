// SPDX-License-Identifier: BSD-2-Clause
#include "transport/channel.hpp"

#include <utility>

#include "transport/clock.hpp"

namespace quorate {

void Channel::map(const SharedFile& file)
{
    mapping_ = file.map(SharedFile::first, 2 * Ring::size());
}

Channel Channel::make()
{
    Channel channel;
    SharedFile file("quorate-channel");
    if (!file.extend(2 * Ring::size())) return channel;
    channel.map(file);
    if (!channel.present()) return channel;
    channel.file_ = std::move(file);
    channel.out_ = Ring(channel.mapping_->data());
    channel.in_ = Ring(channel.mapping_->data() + Ring::size());
    return channel;
}

Channel Channel::open(const SharedAddress& address)
{
    Channel channel;
    const SharedFile file(address);
    if (file.present()) channel.map(file);
    if (!channel.present()) return channel;
    channel.in_ = Ring(channel.mapping_->data());
    channel.out_ = Ring(channel.mapping_->data() + Ring::size());
    return channel;
}

bool Channel::push(transport::Tag tag, const transport::Bytes* bytes)
{
    const auto now = clock_seconds();
    return bytes ? out_.push(static_cast<int>(tag), now, {bytes->data(), bytes->size()})
                 : out_.announce(static_cast<int>(tag), now);
}

// Puts a message, or word of one that goes another way, behind all others.
// @return null: it is in the ring; else it is when this becomes true
std::shared_ptr<const bool> Channel::append(transport::Tag tag,
                                            std::shared_ptr<transport::Bytes> bytes)
{
    if (flush() && push(tag, bytes.get())) return nullptr;
    return waiting_.emplace_back(tag, std::move(bytes), std::make_shared<bool>(false)).left;
}

bool Channel::flush()
{
    while (!waiting_.empty()) {
        auto& next = waiting_.front();
        if (!push(next.tag, next.bytes.get())) return false;
        *next.left = true;
        waiting_.pop_front();
    }
    return true;
}

bool Channel::advance()
{
    const auto before = waiting_.size();
    flush();
    return waiting_.size() < before;
}

std::optional<transport::Message> Channel::receive(int from, transport::Pool& pool,
                                                   Doorbells& bells)
{
    if (advance()) bells.ring(from);
    if (!announced_) {
        const auto head = in_.front();
        if (!head) return std::nullopt;
        announced_ = head->elsewhere();
        sent_ = head->sent;
        std::shared_ptr<transport::Bytes> bytes;
        if (!announced_) bytes = pool.take(head->bytes);
        if (in_.pop(*head, bytes ? bytes->data() : nullptr)) bells.ring(from);
        if (!announced_)
            return transport::Message{std::move(bytes), from,
                                      static_cast<transport::Tag>(head->tag), head->sent};
    }
    if (other_way_.empty()) return std::nullopt;
    announced_ = false;
    auto message = std::move(other_way_.front());
    other_way_.pop_front();
    message.sent = sent_;
    return message;
}

}  // namespace quorate
