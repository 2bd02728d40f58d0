// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/channel.hpp"

#include <utility>

#include "mpi/clock.hpp"

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

bool Channel::push(mpi::Tag tag, const mpi::Bytes* bytes)
{
    const auto now = clock_seconds();
    return bytes ? out_.push(static_cast<int>(tag), now, {bytes->data(), bytes->size()})
                 : out_.announce(static_cast<int>(tag), now);
}

mpi::Transfer Channel::send(const mpi::Comm& comm, int to, mpi::Tag tag,
                            std::shared_ptr<mpi::Bytes> bytes)
{
    if (!present()) return mpi::send(comm, to, tag, std::move(bytes));
    if (bytes->size() <= Ring::longest) return send_short(to, tag, std::move(bytes));
    auto transfer = mpi::send(comm, to, tag, std::move(bytes));
    transfer.left = append(tag, nullptr);
    return transfer;
}

mpi::Transfer Channel::send_short(int to, mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes)
{
    auto left = append(tag, bytes);
    return {.bytes = std::move(bytes), .peer = to, .tag = tag, .left = std::move(left)};
}

// Puts a message, or word of one that goes by MPI, behind all others.
// @return null: it is in the ring; else it is when this becomes true
std::shared_ptr<const bool> Channel::append(mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes)
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

std::optional<mpi::Transfer> Channel::receive(int from, mpi::Pool& pool, Doorbells& bells)
{
    if (advance()) bells.ring(from);
    if (!announced_) {
        const auto head = in_.front();
        if (!head) return std::nullopt;
        announced_ = head->elsewhere();
        sent_ = head->sent;
        std::shared_ptr<mpi::Bytes> bytes;
        if (!announced_) bytes = pool.take(head->bytes);
        if (in_.pop(*head, bytes ? bytes->data() : nullptr)) bells.ring(from);
        if (!announced_)
            return mpi::Transfer{.bytes = std::move(bytes),
                                 .peer = from,
                                 .tag = static_cast<mpi::Tag>(head->tag),
                                 .sent = head->sent};
    }
    if (by_mpi_.empty()) return std::nullopt;
    announced_ = false;
    auto message = std::move(by_mpi_.front());
    by_mpi_.pop_front();
    message.sent = sent_;
    return message;
}

}  // namespace quorate
