// SPDX-License-Identifier: BSD-2-Clause
// Owners for HDF5 identifiers and the few calls that Quorate makes with them. Every return value is
// checked; a failure throws Failure with the name of the object. Local. The library knows no threads: while
// a trace is being written in the background, whoever uses it meanwhile holds library().
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quorate::h5 {

/// Move-only owner of an identifier. A destructor cannot report a failed close: where data may
/// still be written then, call close().
template <herr_t (*Close)(hid_t)>
class Handle {
public:
    Handle() = default;
    /// @throws Failure "what" if the identifier is negative.
    Handle(hid_t id, const std::string& what);
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
    Handle& operator=(Handle&& other) noexcept
    {
        std::swap(id_, other.id_);
        return *this;
    }
    ~Handle()
    {
        if (id_ >= 0) Close(id_);
    }
    hid_t get() const noexcept { return id_; }
    explicit operator bool() const noexcept { return id_ >= 0; }
    /// @throws Failure if the library reports one.
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

/// Held by the thread that writes a trace, and by whoever reads data while a run goes on.
std::recursive_mutex& library();

/// Throws Failure "HDF5: cannot <what>" if status is negative.
void check(herr_t status, const std::string& what);

/// The memory type of an element.
template <class T>
hid_t native();

/// Opens for reading, without locks (a live trace can be read).
/// @throws BadInput if the file is absent, unreadable or not HDF5.
File open(const std::string& path);
/// Opens an existing file for reading and writing. @throws BadInput likewise.
File open_to_append(const std::string& path);
/// Creates or truncates. @throws Failure.
File create(const std::string& path);

bool has(hid_t parent, const std::string& name);
Group create_group(hid_t parent, const std::string& name);

// Attributes: scalars of type string (variable length, UTF-8), double or int64. Writing replaces.
void write_attribute(hid_t object, const std::string& name, const std::string& value);
void write_attribute(hid_t object, const std::string& name, double value);
void write_attribute(hid_t object, const std::string& name, std::int64_t value);
std::vector<std::string> attribute_names(hid_t object);
bool has_attribute(hid_t object, const std::string& name);
/// @throws Failure if there is none of that name and kind.
std::string read_string(hid_t object, const std::string& name);
double read_double(hid_t object, const std::string& name);
std::int64_t read_integer(hid_t object, const std::string& name);

/// Number of elements in each dimension.
std::vector<std::int64_t> shape(hid_t parent, const std::string& name);

/// Elements [first, first + count) of a one-dimensional data set, converted to T.
template <class T>
std::vector<T> read(hid_t parent, const std::string& name, std::int64_t first, std::int64_t count);
/// All of a one-dimensional data set.
template <class T>
std::vector<T> read(hid_t parent, const std::string& name);
/// Rows [first, first + count) of a two-dimensional data set, row by row.
template <class T>
std::vector<T> read_rows(hid_t parent, const std::string& name, std::int64_t first,
                         std::int64_t count);
std::vector<std::string> read_strings(hid_t parent, const std::string& name);

/// A new contiguous one-dimensional data set with these values, stored as `stored` (an HDF5 type).
template <class T>
void write(hid_t parent, const std::string& name, std::span<const T> values);
/// A new chunked data set of fixed-length strings, compressed.
void write_strings(hid_t parent, const std::string& name, const std::vector<std::string>& values);

/// A new, empty, extendable data set. width = 0: one-dimensional; else rows of `width` elements.
/// @param chunk     rows in a chunk
/// @param compress  deflate level 1 with byte shuffle
template <class T>
DataSet create_extendable(hid_t parent, const std::string& name, std::int64_t chunk,
                          std::int64_t width = 0, bool compress = true);
/// Leaves the first rows of what create_extendable made. @throws Failure if there are fewer
void cut(const DataSet& data_set, std::int64_t rows);
/// Appends elements (or whole rows) to what create_extendable made.
template <class T>
void append(const DataSet& data_set, std::span<const T> values);

}  // namespace quorate::h5
