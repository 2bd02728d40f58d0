// SPDX-License-Identifier: BSD-2-Clause
// Short messages between the coordinator and a rank of its host: a ring each way. A call of MPI
// that sends or receives takes about a microsecond, one that finds nothing nearly as long, and a
// short round consists of hundreds of them.
#pragma once

#include <deque>
#include <memory>

#include "transport/doorbell.hpp"
#include "transport/endpoint.hpp"
#include "transport/ring.hpp"
#include "transport/shared_file.hpp"

namespace quorate {

/// One end of a pair of rings. Where it is present, all messages between the two processes go
/// through it, so that they keep their order; one that is too long for a ring is announced there
/// and goes another way. Local; not for several threads.
class Channel {
public:
    /// None.
    Channel() = default;
    /// Makes a channel to the coordinator, on another rank; none if there is no memory for it.
    static Channel make();
    /// Opens the channel that another rank has made, on the coordinator; none if it is on another
    /// host. @param address  as that rank's `hello` has it
    static Channel open(const SharedAddress& address);

    bool present() const { return mapping_ != nullptr; }
    const SharedAddress& address() const { return file_.address(); }

    /// Sends a message of at most Ring::longest bytes. Never waits, and rings no bell. A message
    /// for which the ring has no room waits here until advance().
    std::shared_ptr<const bool> send(transport::Tag tag, std::shared_ptr<transport::Bytes> bytes)
    {
        return append(tag, std::move(bytes));
    }
    /// Says that a message goes another way. As send().
    std::shared_ptr<const bool> announce(transport::Tag tag) { return append(tag, nullptr); }
    /// Tries to put messages that wait into the ring. @return whether one went, whose reader's bell
    ///         is to be rung
    bool advance();
    /// Whether messages wait for room.
    bool is_sending() const { return !waiting_.empty(); }

    /// Takes the next message, if one has come. @param from  the rank at the other end, whose bell
    /// is rung if it waits for room
    /// @throws Failure if the memory is spoilt
    std::optional<transport::Message> receive(int from, transport::Pool& pool, Doorbells& bells);
    /// Whether the next message was announced, and take() has not been called with it yet.
    bool awaits_other_way() const { return announced_ && other_way_.empty(); }
    /// Keeps a message of the other end that has come another way until it is its turn.
    void take(transport::Message message) { other_way_.push_back(std::move(message)); }

private:
    // A message that waits for room.
    struct Waiting {
        transport::Tag tag;
        std::shared_ptr<transport::Bytes> bytes;  // null: only to be announced
        std::shared_ptr<bool> left;
    };
    void map(const SharedFile& file);
    bool push(transport::Tag tag, const transport::Bytes* bytes);
    bool flush();
    std::shared_ptr<const bool> append(transport::Tag tag, std::shared_ptr<transport::Bytes> bytes);

    SharedFile file_;
    std::shared_ptr<SharedMapping> mapping_;
    Ring in_, out_;
    std::deque<Waiting> waiting_;
    bool announced_ = false;  // the next message comes another way
    Seconds sent_ = 0;        // when that was sent
    std::deque<transport::Message> other_way_;
};

}  // namespace quorate
