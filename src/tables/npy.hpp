// SPDX-License-Identifier: BSD-2-Clause
// Arrays as NumPy writes them: .npy, and .npz, an archive of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tables/raw_table.hpp"
#include "tables/source.hpp"

namespace quorate {

/// Reads one array from its beginning to its end. Local. Format: NumPy, NEP 1.
class NpyReader {
public:
    /// Reads the head.
    /// @param array  its name, for messages
    /// @throws BadInput if it is damaged, or its elements are neither real numbers nor text
    NpyReader(ByteSource source, std::string array);

    const std::vector<std::int64_t>& shape() const { return shape_; }
    /// Elements of a row, which is what the first dimension counts.
    std::int64_t row_size() const;
    /// Whether elements are text.
    bool is_text() const { return kind_ == 'U' || kind_ == 'S'; }
    /// The element type in NumPy's notation: <f8.
    const std::string& type() const { return type_; }
    /// Whether the first dimension varies fastest.
    bool fortran() const { return fortran_; }

    /// Reads the next elements, as they stand in the file.
    /// @throws BadInput if the file ends before, or if they are no numbers
    void next(std::int64_t count, std::vector<double>& values);
    /// Reads all elements, one row after the other whatever their order in the file.
    std::vector<double> all();
    /// Reads the next element, which is text.
    std::string next_text();
    /// Checks that the file ends here. @throws BadInput if it does not, or its checksum is wrong
    void end() { source_.expect_end(); }
    /// "FILE: array NAME", for messages.
    std::string what() const;
    /// Throws BadInput "FILE: array NAME wrong".
    [[noreturn]] void refuse(const std::string& wrong) const;

private:
    void parse(const std::string& header);

    ByteSource source_;
    std::string array_, type_;
    char kind_ = 'f';
    std::size_t size_ = 0;  // bytes of an element
    bool big_endian_ = false, fortran_ = false;
    std::vector<std::int64_t> shape_;
    std::vector<char> bytes_;
};

/// Whether a file that begins with these bytes is a .npy file.
bool is_npy(const std::string& bytes);

/// Reads a vector of labels: n numbers, truth values or words, of the shape n or n x 1.
/// @param words  receives the labels if they are words; what is returned are their numbers then
/// @param from   opened, at its beginning  @throws BadInput if they are none
std::vector<double> read_npy_labels(NpyReader& from, Levels& words);

}  // namespace quorate
