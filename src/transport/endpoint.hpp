// SPDX-License-Identifier: BSD-2-Clause
// What carries messages among the ranks of a run: a small interface, and what its makes share. A
// rank is a process or a thread. mpi_endpoint, host_endpoint and thread_endpoint are the makes;
// only the code that starts a run knows which one it is.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "transport/message.hpp"

namespace quorate::transport {

/// Thrown where a message is waited for that cannot come any more.
class Unreachable : public Failure {
public:
    using Failure::Failure;
};

/// Whether a message has left: its bytes may be changed, and its sender may end. The message is on
/// its way, whatever becomes of the ticket.
class Ticket {
public:
    /// Of a message that has left.
    Ticket() = default;
    /// @param left  becomes true; null: is true
    explicit Ticket(std::shared_ptr<const bool> left) : first_(std::move(left)) {}
    /// Of one that has left when both have.
    Ticket(const Ticket& message, std::shared_ptr<const bool> announced)
        : first_(message.first_), second_(std::move(announced))
    {
    }
    /// As of the last call of Endpoint::advance() or receive(). Also true where the receiver is
    /// unreachable.
    bool has_left() const { return (!first_ || *first_) && (!second_ || *second_); }

private:
    std::shared_ptr<const bool> first_, second_;
};

/// One rank's end of the messages with all the others. Messages of a rank to another come in the
/// order in which they were sent, and whole. Rank 0 may send to all and hear from all; the others
/// from rank 0, and from those that they expect(). Local; for one thread.
class Endpoint {
public:
    /// @param host  on which the rank is
    Endpoint(int rank, int size, std::string host)
        : rank_(rank), size_(size), host_(std::move(host))
    {
    }
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;
    virtual ~Endpoint() = default;

    int rank() const { return rank_; }
    int size() const { return size_; }
    /// Ranks of one host may share memory.
    const std::string& host() const { return host_; }
    /// Buffers for messages of this rank.
    Pool& pool() { return pool_; }

    /// Starts to send all of `bytes`; never waits. Several messages may share a buffer, which
    /// nobody may change before they have left. The receiver is woken by ring() or wait(). To a
    /// rank that cannot be reached nothing is sent.
    virtual Ticket send(int to, Tag tag, std::shared_ptr<Bytes> bytes) = 0;
    /// Wakes those to whom messages were sent since. Late, because a rank that wakes may take the
    /// core of this one.
    virtual void ring() = 0;
    /// Whether a message that comes ends the receiver's wait() at once. Otherwise waits are sleeps
    /// between looks.
    virtual bool wakes() const = 0;
    /// Goes on with what is under way in both directions; never waits.
    /// @throws Failure if the transport itself fails
    virtual void advance() = 0;
    /// Takes the next message, if one has come. As advance().
    std::optional<Message> receive();
    /// Sleeps once, for at most so many seconds; a message that comes ends the sleep. The first
    /// sleep after restart_wait() is the shortest. Nobody spins.
    virtual void wait(Seconds at_most = never) = 0;
    /// To be called when something was received or done.
    virtual void restart_wait() = 0;
    /// Ends this rank's wait(), from any thread of it. Where no message does either, it only ends a
    /// little later.
    virtual void interrupt() = 0;
    /// Whether others of this rank's host ring for what it waits for: then it looks less often.
    virtual void rely_on_rings(bool) {}

    /// Takes the next message of a rank, if one has come; those of others wait for receive(). As
    /// advance().
    std::optional<Message> take_from(int rank);
    /// Waits for the next message of a rank; those of others wait for receive().
    /// @throws Unreachable if that rank has ended, or cannot be reached
    Message receive_from(int rank);
    /// The same, until a time of the clock.
    /// @return nothing if it has not come by then, or never will
    std::optional<Message> receive_from(int rank, Seconds until);
    /// Waits for a message from any rank. @throws as advance()
    Message receive_any();
    /// Waits until all messages have left but those to ranks that are forsaken or unreachable.
    void flush();

    /// Whether messages are leaving, or are arriving and not yet whole, of and to ranks that are
    /// not forsaken.
    virtual bool is_sending() const = 0;
    virtual bool is_receiving() const = 0;
    /// Nobody waits any more for what this rank was sent, or has begun to send. The latter is
    /// received if it comes.
    virtual void forsake(int rank) = 0;
    /// Messages of this rank may come from now on; it is forsaken no more.
    virtual void expect(int rank) = 0;
    /// Whether this rank was seen to end: its process, on this host, or its thread.
    virtual bool has_ended(int rank) const = 0;
    /// Whether a message to this rank or of it has failed.
    virtual bool is_unreachable(int rank) const = 0;
    /// Ends this rank at once, without a word to the others: a planned death.
    [[noreturn]] virtual void die() = 0;

    /// The tag of a message of an era, in which other ranks may be left than in the one before.
    /// The first era is 0.
    static Tag in_era(Tag tag, int era)
    {
        return static_cast<Tag>(static_cast<int>(tag) + tags_of_era * era);
    }
    static constexpr int most_eras = 15;
    /// From now on messages of this era are received. Earlier ones are dropped when they come;
    /// later ones wait for their era.
    void begin_era(int era);

protected:
    std::deque<Message> ready_;  // messages that have come whole, in the order of receive()

private:
    static constexpr int tags_of_era = 64;
    bool keep(Message& message);

    std::deque<Message> later_;  // of later eras
    int era_ = 0;
    int rank_, size_;
    std::string host_;
    Pool pool_;
};

}  // namespace quorate::transport
