// SPDX-License-Identifier: BSD-2-Clause
// Messages between the coordinator and a rank of its host, past MPI: a ring each way. A call of MPI
// that sends or receives takes about a microsecond, one that finds nothing nearly as long, and a
// short round consists of hundreds of them.
#pragma once

#include <deque>
#include <memory>

#include "mpi/doorbell.hpp"
#include "mpi/mpi.hpp"
#include "mpi/ring.hpp"
#include "mpi/shared_file.hpp"

namespace quorate {

/// One end of a pair of rings. Where it is present, all messages between the two processes go
/// through it, so that they keep their order; one that is too long for a ring is announced there
/// and goes by MPI. Local; not for several threads.
class Channel {
public:
    /// None: messages go by MPI.
    Channel() = default;
    /// Makes a channel to the coordinator, on another rank; none if there is no memory for it.
    static Channel make();
    /// Opens the channel that another rank has made, on the coordinator; none if it is on another
    /// host. @param address  as that rank's `hello` has it
    static Channel open(const SharedAddress& address);

    bool present() const { return mapping_ != nullptr; }
    const SharedAddress& address() const { return file_.address(); }

    /// Starts to send a message, by MPI if it is long or the channel not present. Never waits, and
    /// rings no bell. A message for which the ring has no room waits here: send(), receive() and
    /// flush() try again.
    /// @throws as mpi::send()
    mpi::Transfer send(const mpi::Comm& comm, int to, mpi::Tag tag,
                       std::shared_ptr<mpi::Bytes> bytes);
    /// As send(), of at most Ring::longest bytes. Only if present().
    mpi::Transfer send_short(int to, mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes);
    /// Takes the next message, if one has come. Only if present().
    /// @param from   the rank at the other end, whose bell is rung if it waits for room
    /// @return a transfer that may be under way yet if it came by MPI
    /// @throws Failure if the memory is spoilt
    std::optional<mpi::Transfer> receive(int from, mpi::Pool& pool, Doorbells& bells);
    /// Whether the next message was announced, and take() has not been called with it yet.
    bool awaits_mpi() const { return announced_ && by_mpi_.empty(); }
    /// Keeps a message of the other end that has come by MPI until it is its turn.
    void take(mpi::Transfer message) { by_mpi_.push_back(std::move(message)); }
    /// Whether all messages are in the ring. Tries again if not.
    bool flush();
    /// Tries to put messages that wait into the ring. @return whether one went, whose reader's bell
    ///         is to be rung
    bool advance();

private:
    // A message that waits for room.
    struct Waiting {
        mpi::Tag tag;
        std::shared_ptr<mpi::Bytes> bytes;  // null: only to be announced
        std::shared_ptr<bool> left;
    };
    void map(const SharedFile& file);
    bool push(mpi::Tag tag, const mpi::Bytes* bytes);
    std::shared_ptr<const bool> append(mpi::Tag tag, std::shared_ptr<mpi::Bytes> bytes);

    SharedFile file_;
    std::shared_ptr<SharedMapping> mapping_;
    Ring in_, out_;
    std::deque<Waiting> waiting_;
    bool announced_ = false;  // the next message comes by MPI
    Seconds sent_ = 0;        // when that was sent
    std::deque<mpi::Transfer> by_mpi_;
};

}  // namespace quorate
