// SPDX-License-Identifier: BSD-2-Clause
// Vectors that one process writes and others of its host read in place. The owner lends a block to
// a reader by a message that names it; the reader gives it back by counting up in shared memory.
// The owner uses a block again only when every reader has given back what it was lent, or has
// ended. So there is no lock: a process may be killed at any instruction, and what no message has
// named does not exist for others. Blocks are sized in doubles, whatever lies in them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "transport/shared_file.hpp"

namespace quorate {

/// The owner's side. Local; not for several threads.
class SharedBlocks {
public:
    /// Shares nothing: take() returns null.
    SharedBlocks() = default;
    /// @param name     for people who look at /proc
    /// @param readers  how many processes may be lent blocks, numbered from 0
    /// @param gone     whether a reader's process has ended; empty: none ever has
    SharedBlocks(const char* name, int readers, std::function<bool(int)> gone = {});

    /// Whether the system gives shared memory at all.
    bool present() const { return file_.present(); }
    const SharedAddress& address() const { return file_.address(); }
    /// Takes a block that is free: given back by its owner and by all readers. Its values are left
    /// over from earlier use. O(blocks x readers).
    /// @return `size` doubles, at a multiple of 64 bytes; null: there is no memory for them
    double* take(std::size_t size);
    /// The owner needs it no more.
    void give_back(const double* block);
    bool owns(const double* block) const { return blocks_.contains(block); }
    /// How messages name a block.
    std::int64_t name(const double* block) const { return blocks_.at(block).at; }
    /// Lends a block to a reader. To be called before the message that names it is sent. A block
    /// may be lent several times, and is then to be given back as often.
    /// @return name()
    std::int64_t lend(const double* block, int reader);
    /// Whether a reader that has not ended still has the block. O(readers).
    bool is_lent(const double* block) const { return is_lent(blocks_.at(block)); }

private:
    struct Block {
        std::shared_ptr<SharedMapping> memory;
        std::int64_t at;                  // in the file, bytes
        std::size_t size;                 // doubles
        bool taken = true;                // by the owner
        std::vector<std::uint32_t> lent;  // how often, by reader
    };
    bool is_lent(const Block& block) const;

    SharedFile file_;
    int readers_ = 0;
    std::function<bool(int)> gone_;
    std::map<const double*, Block> blocks_;  // by where their values begin
};

/// A reader's side of one owner's blocks. Local; blocks may be given back by any thread.
class BorrowedBlocks {
public:
    /// None.
    BorrowedBlocks() = default;
    /// @param readers  as the owner's  @param reader  the number of this process
    BorrowedBlocks(const SharedAddress& address, int readers, int reader);

    /// Whether the owner's memory is shared with this process.
    bool present() const { return file_.present(); }
    /// Returns the first `size` doubles of a block that was lent to this reader. It is given back
    /// when the last owner of the result lets go of it.
    /// @param name  as the message has it
    /// @throws Failure if there is no such block, or if it cannot be mapped
    std::shared_ptr<const double> borrow(std::int64_t name, std::size_t size);

private:
    SharedFile file_;
    int readers_ = 0, reader_ = 0;
    std::map<std::int64_t, std::shared_ptr<SharedMapping>> blocks_;  // by name
};

}  // namespace quorate
