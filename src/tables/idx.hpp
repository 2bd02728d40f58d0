// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tables/source.hpp"

namespace quorate {

/// Reads an IDX file row by row. Local. Format: LeCun, Cortes, Burges, the MNIST page.
class IdxReader {
public:
    /// Reads the head. @param reading  must outlive this object
    /// @throws BadInput if the file cannot be opened, does not begin as an IDX file does, or has a
    ///         dimension of 0 or rows of more than 2^31 values
    IdxReader(const std::string& path, const Reading& reading);
    /// Its dimensions, one to four; the first is the number of rows.
    const std::vector<std::int64_t>& shape() const { return shape_; }
    std::int64_t rows() const { return shape_.front(); }
    /// Reads the next row. @param values  receives all of its elements
    /// @throws BadInput if the file ends before, or a value is not finite
    void next(std::vector<double>& values);
    /// Checks that the file ends here. @throws BadInput if it does not
    void end() { source_.expect_end(); }

private:
    ByteSource source_;
    std::vector<std::int64_t> shape_;
    std::size_t width_ = 1, size_ = 1;  // elements of a row, bytes of an element
    void (*convert_)(const char* bytes, std::size_t count, double* to) = nullptr;
    std::vector<char> bytes_;
};

/// Whether a file that begins with these bytes (4 at least) is an IDX file.
bool is_idx(const std::string& bytes);

}  // namespace quorate
