// SPDX-License-Identifier: BSD-2-Clause
// The file formats that `quorate import` reads.
#pragma once

#include <functional>

#include "base/registry.hpp"
#include "tables/raw_table.hpp"
#include "tables/source.hpp"

namespace quorate {

/// How a format is recognised and read.
struct Format {
    /// Adds the rows of a file to the table. Called for the input, then for the test input, if
    /// there is one. Local. O(bytes of the file).
    /// @throws BadInput with the place of what is wrong, if the file is not of this format or
    ///     damaged
    /// @throws Failure if the table cannot be written
    std::function<void(const Settings&, const std::string& path, const Reading&, RawTable&)> read;
    /// Whether a file is surely of this format.
    /// @param bytes  the first 65,536 bytes of the file after decompression, or all if it is
    ///               shorter
    std::function<bool(const std::string& bytes)> begins;
};

/// The formats that --format can name, in the order in which `begins` is tried.
const std::vector<Entry<Format>>& formats();
/// Adds one. While no other thread uses Quorate. @throws BadInput if its name is taken
void add_format(Entry<Format> entry);

/// The option of formats that names the labels in a file.
Option label_option();

/// Reads labels from a file of their own: IDX, .npy, .npz, a PETSc vector, or text with a label in
/// each line.
/// @return a label for each row  @throws BadInput if the file is none of these, or damaged
GivenLabels read_labels(const std::string& path, const Reading& reading);

/// Whether a file that begins with these bytes begins with a PETSc binary matrix or vector.
bool is_petsc(const std::string& bytes);
/// Reads the first vector of a PETSc binary file, which may hold other objects as well. Local.
/// @throws BadInput if the file cannot be opened, holds no PETSc vector, or is damaged
std::vector<double> read_petsc_vector(const std::string& path, const Reading& reading);

/// Whether rows are to be like those of a data set.
bool is_like(const Settings& settings);
/// Whether rows need no labels, because they are to be like those of a data set: then a column of
/// labels that this data set had may be absent.
bool labels_are_optional(const Settings& settings);

/// Says that what is added to the table from now on are test rows, which stand in the file of the
/// training rows.
/// @param what  they are there, for the message
/// @throws BadInput if options ask for other test rows
void begin_own_test_rows(const Settings& settings, const std::string& path, const std::string& what,
                         RawTable& table);

}  // namespace quorate
