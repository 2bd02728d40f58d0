// SPDX-License-Identifier: BSD-2-Clause
// Reads and writes HDF5 data sets of numbers and of fixed-length strings.
#pragma once

#include <span>
#include <vector>

#include "hdf5/hdf5.hpp"

namespace quorate::h5 {

/// Opens a data set. @throws BadInput if its values are in other files: external storage, or a
/// virtual data set
DataSet open_data_set(hid_t parent, const std::string& name);

/// Returns the number of elements of a data set in each dimension.
std::vector<std::int64_t> shape(hid_t parent, const std::string& name);

/// Returns the number of rows of a data set: its first dimension. @throws Failure if it has none
std::int64_t rows_of(hid_t parent, const std::string& name);

/// Reads elements [first, first + count) of a one-dimensional data set, converted to T. Reads no
/// others.
/// @throws Failure if the data set is not one-dimensional or has fewer elements
template <class T>
std::vector<T> read(hid_t parent, const std::string& name, std::int64_t first, std::int64_t count);
/// Reads all elements of a one-dimensional data set, converted to T.
template <class T>
std::vector<T> read(hid_t parent, const std::string& name);
/// Reads rows [first, first + count) of a data set of two or more dimensions, row by row.
/// @throws Failure if the data set has fewer dimensions or rows
template <class T>
std::vector<T> read_rows(hid_t parent, const std::string& name, std::int64_t first,
                         std::int64_t count);
/// Reads rows [first, first + count) of a data set of any dimension into memory, row by row.
/// @param to  receives the elements, converted to T
/// @throws Failure if the data set has fewer rows, or these have not that many elements
template <class T>
void read_into(hid_t parent, const std::string& name, std::int64_t first, std::int64_t count,
               std::span<T> to);
/// Reads a data set of strings, of fixed or any length.
std::vector<std::string> read_strings(hid_t parent, const std::string& name);

/// Writes a new contiguous one-dimensional data set with these values, of type T.
template <class T>
void write(hid_t parent, const std::string& name, std::span<const T> values);
/// Writes a new chunked data set of fixed-length strings, compressed.
void write_strings(hid_t parent, const std::string& name, const std::vector<std::string>& values);

/// Creates a one-dimensional data set whose values write_part() writes. What is not written takes
/// no place in the file, and has any value.
template <class T>
DataSet create_vector(hid_t parent, const std::string& name, std::int64_t elements);
/// Writes some elements of a one-dimensional data set, or of the last row of one of two dimensions,
/// from `first` on. T need not be the type of the data set.
template <class T>
void write_part(const DataSet& data_set, std::int64_t first, std::span<const T> values);

/// Creates an empty data set that append() makes longer.
/// @param chunk     rows in a chunk, which of long rows has a part of each only
/// @param width     elements of a row; 0: the data set is one-dimensional
/// @param compress  with deflate at level 1 and byte shuffle
template <class T>
DataSet create_extendable(hid_t parent, const std::string& name, std::int64_t chunk,
                          std::int64_t width = 0, bool compress = true);
/// Opens a data set that create_extendable() made. @throws Failure if it has another shape
DataSet open_extendable(hid_t parent, const std::string& name, std::int64_t width = 0);
/// Drops all but the first rows of an extendable data set. @throws Failure if it has fewer rows
void cut(const DataSet& data_set, std::int64_t rows);
/// Adds a row of any values to an extendable data set, for write_part().
void add_row(const DataSet& data_set);
/// Appends elements, or whole rows, to an extendable data set.
template <class T>
void append(const DataSet& data_set, std::span<const T> values);

}  // namespace quorate::h5
