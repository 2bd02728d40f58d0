// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/mailbox.hpp"

#include <algorithm>

#include "mpi/clock.hpp"

namespace quorate {

Mailbox::Mailbox(const mpi::Comm& comm, Doorbells& bells, Channel& channel, Seconds timeout)
    : comm_(comm), bells_(bells), channel_(channel), detector_(1, timeout, bells)
{
}

// Starts to receive the next message, if one has come.
std::optional<mpi::Transfer> Mailbox::next()
{
    if (!channel_.present()) return mpi::receive(comm_, MPI_ANY_SOURCE, pool_);
    if (auto message = channel_.receive(0, pool_, bells_)) return message;
    if (!channel_.awaits_mpi() && !listens_to_all_) return std::nullopt;
    auto message = mpi::receive(comm_, MPI_ANY_SOURCE, pool_);
    if (!message || message->peer != 0) return message;
    channel_.take(std::move(*message));
    return channel_.receive(0, pool_, bells_);
}

// Forgets the last message if it has left.
void Mailbox::note_sent()
{
    if (!outgoing_ || !outgoing_->done()) return;
    if (outgoing_->tag == mpi::Tag::contribution) send_seconds_ = clock_seconds() - send_began_;
    outgoing_.reset();
}

void Mailbox::poll(const std::function<void(const mpi::Transfer&)>& receive)
{
    note_sent();
    if (!incoming_) incoming_ = next();
    while (incoming_ && incoming_->done()) {
        backoff_.reset();
        if (incoming_->peer == 0) detector_.is_alive(0);
        if (incoming_->tag != mpi::Tag::ping) {
            receive(*incoming_);
        } else if (!pong_ || pong_->done()) {  // otherwise the last pong is still leaving
            pong_ = channel_.send(comm_, 0, mpi::Tag::pong, pool_.take(0));
            bells_.ring(0);
        }
        incoming_ = next();
    }
}

void Mailbox::send(mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes)
{
    flush();
    send_began_ = clock_seconds();
    outgoing_ = channel_.send(comm_, 0, tag, std::move(bytes));
    bells_.ring(0);
    note_sent();
}

void Mailbox::flush()
{
    for (note_sent(); outgoing_; note_sent()) {
        if (channel_.advance())
            bells_.ring(0);
        else
            wait();
    }
}

void Mailbox::wait(Seconds at_most)
{
    // A message that has begun to arrive needs a few more calls of MPI_Test, and no bell rings for
    // these. So the sleep is short.
    constexpr Seconds soon = 20e-6;
    constexpr Seconds interval = 0.02;  // of looks whether the coordinator lives
    if (const auto now = clock_seconds(); now - checked_ >= interval) {
        checked_ = now;
        if (detector_.is_dead(0)) throw Orphaned("the coordinator is gone");
    }
    const bool arriving = incoming_ || channel_.awaits_mpi();
    // Calls of MPI are needed for what comes or leaves by MPI.
    const bool bell_tells = channel_.present() && !listens_to_all_ && !outgoing_;
    backoff_.wait(arriving ? std::min(at_most, soon) : at_most, bell_tells);
}

}  // namespace quorate
