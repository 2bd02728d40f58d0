// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tables/archive.hpp"
#include "tables/raw_table.hpp"
#include "tables/source.hpp"

namespace quorate {

/// Reads one array from its beginning to its end. Local. Formats: .npy of NumPy (NEP 1), and IDX
/// (LeCun, Cortes and Burges, the MNIST page).
class ArrayReader {
public:
    /// Reads the head.
    /// @param name  of the array, for messages
    /// @throws BadInput if it is of neither format or damaged, or its elements are neither real
    ///         numbers nor text
    ArrayReader(ByteSource source, std::string name);

    /// Its dimensions; the first one counts rows.
    const std::vector<std::int64_t>& shape() const { return shape_; }
    /// Whether the first dimension varies fastest.
    bool fortran() const { return fortran_; }

    /// Reads the next elements, as they stand in the file.
    /// @throws BadInput if the file ends before, or if they are no numbers
    void next(std::int64_t count, std::vector<double>& values);
    /// Reads all elements, one row after the other whatever their order in the file.
    std::vector<double> all();
    /// Reads all elements as labels: numbers, truth values or words, of the shape n or n x 1.
    /// @throws BadInput if they are no labels
    GivenLabels labels();
    /// Checks that the file ends here. @throws BadInput if it does not, or its checksum is wrong
    void end() { source_.expect_end(); }
    /// "FILE: array NAME", for messages.
    std::string what() const;
    /// Throws BadInput "FILE: array NAME wrong".
    [[noreturn]] void refuse(const std::string& wrong) const;

private:
    void read_idx_head(const std::string& magic);
    void read_npy_head();
    void set_type(const std::string& type);
    bool is_text() const { return kind_ == 'U' || kind_ == 'S'; }
    std::string next_text();

    ByteSource source_;
    std::string name_;
    std::string type_;      // of elements, in NumPy's notation: <f8
    char kind_ = 'f';       // its letter
    std::size_t size_ = 0;  // bytes of an element
    bool big_endian_ = false, fortran_ = false;
    std::vector<std::int64_t> shape_;
    std::vector<char> bytes_;
};

/// Whether a file that begins with these bytes is a .npy file.
bool is_npy(const std::string& bytes);
/// Whether one that begins with these bytes (4 at least) is an IDX file.
bool is_idx(const std::string& bytes);

/// An archive of NumPy's arrays, .npz, by name. Local.
class Npz {
public:
    /// @param reading  must outlive this object  @throws BadInput as Archive, or if it has no
    ///     arrays, or is a sparse matrix of SciPy
    Npz(const std::string& path, const Reading& reading);
    const std::string& path() const { return archive_.path(); }
    /// Names of the arrays, in the order of the file.
    const std::vector<std::string>& names() const { return names_; }
    bool has(const std::string& name) const;
    /// Opens an array. @param option  that names it, for the message
    /// @throws BadInput if it is not there, or as ArrayReader
    ArrayReader open(const std::string& name, const std::string& option) const;

private:
    const Reading& reading_;
    Archive archive_;
    std::vector<std::string> names_;
};

}  // namespace quorate
