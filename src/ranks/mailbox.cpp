// SPDX-License-Identifier: BSD-2-Clause
#include "ranks/mailbox.hpp"

#include <utility>

#include "transport/clock.hpp"

namespace quorate {

Mailbox::Mailbox(transport::Endpoint& endpoint, Seconds timeout)
    : endpoint_(endpoint), detector_(endpoint, timeout)
{
}

// Forgets the last message if it has left.
void Mailbox::note_sent()
{
    if (!is_sending_ || !ticket_.has_left()) return;
    if (sending_ == transport::Tag::contribution) send_seconds_ = clock_seconds() - send_began_;
    is_sending_ = false;
}

void Mailbox::poll(const std::function<void(const transport::Message&)>& receive)
{
    auto message = endpoint_.receive();
    note_sent();
    for (; message; message = endpoint_.receive()) {
        endpoint_.restart_wait();
        if (message->from == 0) detector_.is_alive(0);
        if (message->tag != transport::Tag::ping) {
            receive(*message);
        } else if (pong_.has_left()) {  // otherwise the last pong is still leaving
            pong_ = endpoint_.send(0, transport::Tag::pong, endpoint_.pool().take(0));
            endpoint_.ring();
        }
    }
}

void Mailbox::send(transport::Tag tag, std::shared_ptr<transport::Bytes> bytes)
{
    flush();
    send_began_ = clock_seconds();
    sending_ = tag;
    is_sending_ = true;
    ticket_ = endpoint_.send(0, tag, std::move(bytes));
    endpoint_.ring();
    note_sent();
}

void Mailbox::flush()
{
    for (note_sent(); is_sending_; note_sent()) {
        endpoint_.advance();
        if (!ticket_.has_left()) wait();
    }
}

void Mailbox::wait(Seconds at_most)
{
    constexpr Seconds interval = 0.02;  // of looks whether the coordinator lives
    if (const auto now = clock_seconds(); now - checked_ >= interval) {
        checked_ = now;
        if (endpoint_.is_unreachable(0))
            throw transport::Unreachable("MPI cannot reach the coordinator");
        if (detector_.is_dead(0)) throw Orphaned("the coordinator is gone");
    }
    endpoint_.wait(at_most);
}

}  // namespace quorate
