// SPDX-License-Identifier: BSD-2-Clause
// Makes each flush of an HDF5 file a commit: after a `kill -9` at any moment the file holds what
// its last flush made of it. HDF5 itself overwrites its metadata in place, so a kill in the middle
// of a flush leaves indices that name chunks which are not there.
//
// Writes behind the end of the last commit go to the file at once, because nothing refers to them
// yet. Writes that would overwrite a page of the last commit stay in memory until HDF5 flushes the
// file. Then these pages are written to PATH.journal, which gets that name once it is complete;
// then they are written to their places in the file; then the journal is removed. A reader that
// opens a file with a journal sees the journal's pages in place of the file's. A writer that opens
// it puts them in place.
//
// After a power loss it does so too, if commits are durable: then what is behind the end is on disk
// before the journal gets its name, the journal before a page is overwritten, and the pages before
// the journal is removed.
//
// A new file has a name of its own until its first commit, so whoever is killed before leaves what
// was there.
#pragma once

#include <hdf5.h>

#include <string>

#include "base/owner.hpp"

namespace quorate::h5 {

/// How a file is written. Its writer may change it between two commits.
struct WriteAccess {
    const Owner* owner = nullptr;  // who is asked before each commit; none: nobody else writes it
    bool durable = false;          // whether each commit is on disk when it ends
    /// Why nothing more is written, so that the file stays as its last commit has left it; empty:
    /// it is written. The driver says here what has failed, and not to HDF5, which cannot close a
    /// file whose flush has failed. So who writes looks here after each flush.
    std::string lost = {};
};

/// What properties tell the driver (H5Pset_driver).
struct DriverInfo {
    WriteAccess* access;  // null: there is nothing to tell
};

/// Returns the path of a file's journal, whether it exists or not.
std::string journal_of(const std::string& path);

/// Registers an HDF5 driver (H5Pset_driver) on top of the default one that works as described
/// above. Between flushes it takes the memory of the pages that were overwritten. Only one process
/// may write at a time. Many may read; one that reads in the middle of a commit may have to try
/// again. Local.
/// @return the driver's identifier, which lives as long as the library
/// @throws Failure if HDF5 refuses the driver
hid_t journal_driver();

}  // namespace quorate::h5
