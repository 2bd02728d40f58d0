// SPDX-License-Identifier: BSD-2-Clause
// Owners for HDF5 identifiers, files and groups. Of this header and of those for attributes and
// data sets: everything is local. Every return value is checked: unless a comment says otherwise,
// functions throw Failure with HDF5's reason and the name of the object. Where other threads may
// call HDF5, hold libraries(); files are opened and identifiers are closed under it already.
#pragma once

#include <hdf5.h>

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "hdf5/error.hpp"
#include "hdf5/libraries.hpp"

namespace quorate::h5 {

struct WriteAccess;  // hdf5/journal.hpp

/// Move-only owner of an identifier. Its destructor cannot report that closing failed. So call
/// close() where closing may still write data.
template <herr_t (*Close)(hid_t)>
class Handle {
public:
    Handle() = default;
    /// @param id    from HDF5; negative means that the call failed
    /// @param what  was tried, for the message
    /// @throws Failure "HDF5: cannot <what>" with HDF5's reason if the identifier is negative
    Handle(hid_t id, const std::string& what) : id_(id) { check(id, what); }
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
    Handle& operator=(Handle&& other) noexcept
    {
        std::swap(id_, other.id_);
        return *this;
    }
    ~Handle()
    {
        if (id_ < 0) return;
        const std::lock_guard lock(libraries());
        Close(id_);
    }
    hid_t get() const noexcept { return id_; }
    explicit operator bool() const noexcept { return id_ >= 0; }
    /// Closes the object now. @throws Failure if that fails
    void close(const std::string& what)
    {
        const std::lock_guard lock(libraries());
        check(Close(std::exchange(id_, -1)), what);
    }

private:
    hid_t id_ = -1;
};

using File = Handle<H5Fclose>;
using Group = Handle<H5Gclose>;
using DataSet = Handle<H5Dclose>;
using Space = Handle<H5Sclose>;
using Type = Handle<H5Tclose>;
using Attribute = Handle<H5Aclose>;
using Properties = Handle<H5Pclose>;

/// Opens a file for reading, without a file lock, so that a trace can be read while it is written.
/// @throws BadInput if the file is absent, unreadable or not HDF5
File open(const std::string& path);
/// Opens an existing file for reading and writing, with a journal (hdf5/journal.hpp): until the
/// next H5Fflush is complete, a process that is killed leaves the file as it is now.
/// @param access  how it is written; lives as long as the file
/// @throws BadInput if the file is absent, unreadable or not HDF5
File open_to_append(const std::string& path, WriteAccess* access = nullptr);
/// Puts the pages of a journal that a process has left behind into its file, for those that read
/// the file without it. Does nothing where one of the two is not there.
/// @throws BadInput if the file is unreadable or not HDF5
void put_journal_in_place(const std::string& path, WriteAccess access);
/// Creates a file, or empties an existing one.
File create(const std::string& path);
/// Creates a file with a journal: at any moment, also after the process was killed, readers find
/// what the last H5Fflush made of it. The first one gives the file its name, so that one that is
/// there stays until then.
/// @param access  as above
File create_with_journal(const std::string& path, WriteAccess* access = nullptr);

/// Calls read(), which reads a file that somebody else may have written, and turns what does not
/// fit in it into bad input.
/// @param remedy  what to do with a damaged file  @throws BadInput "PATH is damaged (WHY): REMEDY"
template <class Read>
auto reading(const std::string& path, const char* remedy, Read read)
{
    try {
        return read();
    } catch (const Failure& damaged) {
        throw BadInput(fmt::format("{} is damaged ({}): {}", path, damaged.what(), remedy));
    }
}

/// Makes properties of access to an object, H5P_DATASET_ACCESS or H5P_GROUP_ACCESS, with which the
/// path to it does not leave the file: external links are not followed.
Properties within_file(hid_t kind);
/// Whether a file or group holds an object. @param name  may be a path A/B/C
bool has(hid_t parent, const std::string& name);
Group create_group(hid_t parent, const std::string& name);
Group open_group(hid_t parent, const std::string& name);
/// Returns the path of the file that an object belongs to.
std::string path_of(hid_t object);
/// Writes to the file what HDF5 still holds. @param path  of the file, for the message
void flush(const File& file, const std::string& path);
/// Makes the type of UTF-8 strings of so many bytes, or of any length (H5T_VARIABLE).
Type string_type(std::size_t size);

}  // namespace quorate::h5
