// SPDX-License-Identifier: BSD-2-Clause
#include "mpi/mailbox.hpp"

#include <algorithm>

#include "mpi/clock.hpp"

namespace quorate {

Mailbox::Mailbox(const mpi::Comm& comm, Doorbells& bells, Seconds timeout)
    : comm_(comm), bells_(bells), detector_(1, timeout, bells)
{
}

void Mailbox::poll(const std::function<void(const mpi::Transfer&)>& receive)
{
    if (outgoing_ && outgoing_->done()) {
        if (outgoing_->tag == mpi::Tag::contribution) send_seconds_ = clock_seconds() - send_began_;
        outgoing_.reset();
    }
    if (!incoming_) incoming_ = mpi::receive(comm_, MPI_ANY_SOURCE, pool_);
    while (incoming_ && incoming_->done()) {
        backoff_.reset();
        if (incoming_->peer == 0) detector_.is_alive(0);
        if (incoming_->tag != mpi::Tag::ping) {
            receive(*incoming_);
        } else if (!pong_ || pong_->done()) {  // otherwise the last pong is still leaving
            pong_ = mpi::send(comm_, 0, mpi::Tag::pong, pool_.take(0));
            bells_.ring(0);
        }
        incoming_ = mpi::receive(comm_, MPI_ANY_SOURCE, pool_);
    }
}

void Mailbox::send(mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes)
{
    flush();
    send_began_ = clock_seconds();
    outgoing_ = mpi::send(comm_, 0, tag, std::move(bytes));
    bells_.ring(0);
}

void Mailbox::flush()
{
    while (outgoing_ && !outgoing_->done()) wait();
}

void Mailbox::wait(Seconds at_most)
{
    // A message that has begun to arrive needs a few more calls of MPI_Test, and no bell rings for
    // these. So the sleep is short.
    constexpr Seconds soon = 20e-6;
    if (detector_.is_dead(0)) throw Orphaned("the coordinator is gone");
    backoff_.wait(incoming_ ? std::min(at_most, soon) : at_most);
}

}  // namespace quorate
