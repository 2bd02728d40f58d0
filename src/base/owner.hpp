// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <string>

#include "base/error.hpp"

namespace quorate {

/// Another process has taken a file that this one was writing.
class OwnerLost : public Failure {
public:
    using Failure::Failure;
};

/// The right of one process to write a file, in the name of which PATH.owner stands beside it: it
/// says who writes, and is locked where the file system has locks. There, who comes second is
/// refused as long as the first one lives. Where it has none (Lustre without -o flock, some NFS), a
/// process of this host that lives keeps the file, and one of another host loses it to the
/// newcomer, who waits until the loser has looked: check() tells it before it writes more. Local.
class Owner {
public:
    /// Takes 2 s if the file is taken from another host.
    /// @throws BadInput if another process has the file: who, on which host, of which job, since
    ///         when Failure if PATH.owner cannot be written
    explicit Owner(const std::string& path);
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    /// Removes PATH.owner, if it is still this process's.
    ~Owner();

    /// Reads PATH.owner. @throws OwnerLost if another process has taken the file, or had it
    /// meanwhile
    void check() const;
    /// As check(), if that was more than a second ago: before each write of what takes several, in
    /// the middle of which the process may have been stopped for any time.
    void check_again() const;

private:
    bool take();

    std::string path_, record_;
    std::string mine_;  // what stands in the record
    int file_ = -1;     // of the record, locked
    mutable std::atomic<double> checked_ =
        0;  // when, in seconds that also pass while the machine sleeps
};

/// Returns the name of the record of a file's owner; of a symbolic link that of the file that it
/// points to.
std::string owner_record_of(const std::string& path);

}  // namespace quorate
