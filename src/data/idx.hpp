// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/source.hpp"

namespace quorate {

/// The head of an IDX file, and its elements as numbers. Format: LeCun, Cortes, Burges, the MNIST page.
class IdxReader {
public:
    /// @throws BadInput unless the file begins as an IDX file does
    IdxReader(const std::string& path, const Reading& reading);
    /// Its dimensions; the first counts the rows.
    const std::vector<std::int64_t>& shape() const { return shape_; }
    std::int64_t rows() const { return shape_.front(); }
    /// The next row. @param values  as many as a row has  @throws BadInput if the file ends before
    void next(std::vector<double>& values);
    /// @throws BadInput if more follows
    void end() { source_.expect_end(); }

private:
    ByteSource source_;
    std::vector<std::int64_t> shape_;
    std::size_t width_ = 1, size_ = 1;  // elements of a row, bytes of an element
    void (*convert_)(const char* bytes, std::size_t count, double* to) = nullptr;
    std::vector<char> bytes_;
};

/// Whether a file that begins so is IDX.
bool is_idx(const std::string& bytes);

}  // namespace quorate
