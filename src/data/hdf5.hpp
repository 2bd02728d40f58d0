// SPDX-License-Identifier: BSD-2-Clause
// Owners for HDF5 identifiers, and the calls that Quorate makes with them. Everything is local.
// Every return value is checked: unless a comment says otherwise, functions throw Failure with
// HDF5's reason and the name of the object. Where other threads may call
// HDF5, hold libraries(); files are opened and identifiers are closed under it already.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/libraries.hpp"

namespace quorate::h5 {

/// Move-only owner of an identifier. Its destructor cannot report that closing failed. So call
/// close() where closing may still write data.
template <herr_t (*Close)(hid_t)>
class Handle {
public:
    Handle() = default;
    /// @param id    from HDF5; negative means that the call failed
    /// @param what  was tried, for the message
    /// @throws Failure "HDF5: cannot <what>" with HDF5's reason if the identifier is negative
    Handle(hid_t id, const std::string& what);
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
    void close(const std::string& what);

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

/// Throws Failure "HDF5: cannot <what>" with HDF5's reason if the status is negative.
void check(herr_t status, const std::string& what);

/// Returns HDF5's type for an element in memory.
template <class T>
hid_t native();

/// Opens a file for reading, without a file lock, so that a trace can be read while it is written.
/// @throws BadInput if the file is absent, unreadable or not HDF5
File open(const std::string& path);
/// Opens an existing file for reading and writing, with a journal (data/journal.hpp): until the
/// next H5Fflush is complete, a process that is killed leaves the file as it is now.
/// @throws BadInput if the file is absent, unreadable or not HDF5
File open_to_append(const std::string& path);
/// Creates a file, or empties an existing one.
File create(const std::string& path);
/// Creates a file, or empties an existing one, with a journal: at any moment, also after the
/// process was killed, readers find what the last H5Fflush made of it.
File create_with_journal(const std::string& path);

/// Whether a file or group holds an object. @param name  may be a path A/B/C
bool has(hid_t parent, const std::string& name);
Group create_group(hid_t parent, const std::string& name);

// Attributes are scalars of type string (variable length, UTF-8), double or int64. Writing one
// replaces an attribute of the same name.
void write_attribute(hid_t object, const std::string& name, const std::string& value);
void write_attribute(hid_t object, const std::string& name, double value);
void write_attribute(hid_t object, const std::string& name, std::int64_t value);
std::vector<std::string> attribute_names(hid_t object);
bool has_attribute(hid_t object, const std::string& name);
/// @throws Failure if there is no attribute of that name, or it is not a string
std::string read_string(hid_t object, const std::string& name);
double read_double(hid_t object, const std::string& name);
std::int64_t read_integer(hid_t object, const std::string& name);

/// Returns the number of elements of a data set in each dimension.
std::vector<std::int64_t> shape(hid_t parent, const std::string& name);

/// Reads elements [first, first + count) of a one-dimensional data set, converted to T. Reads no
/// others.
/// @throws Failure if the data set is not one-dimensional or has fewer elements
template <class T>
std::vector<T> read(hid_t parent, const std::string& name, std::int64_t first, std::int64_t count);
/// Reads all elements of a one-dimensional data set, converted to T.
template <class T>
std::vector<T> read(hid_t parent, const std::string& name);
/// Reads rows [first, first + count) of a two-dimensional data set, row by row.
/// @throws Failure if the data set is not two-dimensional or has fewer rows
template <class T>
std::vector<T> read_rows(hid_t parent, const std::string& name, std::int64_t first,
                         std::int64_t count);
/// Reads a one-dimensional data set of fixed-length strings.
std::vector<std::string> read_strings(hid_t parent, const std::string& name);

/// Writes a new contiguous one-dimensional data set with these values, of type T.
template <class T>
void write(hid_t parent, const std::string& name, std::span<const T> values);
/// Writes a new chunked data set of fixed-length strings, compressed.
void write_strings(hid_t parent, const std::string& name, const std::vector<std::string>& values);

/// Creates an empty data set that append() makes longer.
/// @param chunk     rows in a chunk
/// @param width     elements of a row; 0: the data set is one-dimensional
/// @param compress  with deflate at level 1 and byte shuffle
template <class T>
DataSet create_extendable(hid_t parent, const std::string& name, std::int64_t chunk,
                          std::int64_t width = 0, bool compress = true);
/// Drops all but the first rows of an extendable data set. @throws Failure if it has fewer rows
void cut(const DataSet& data_set, std::int64_t rows);
/// Appends elements, or whole rows, to an extendable data set.
template <class T>
void append(const DataSet& data_set, std::span<const T> values);

}  // namespace quorate::h5
