// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quorate {

/// A row as its file has it. If `columns` is empty, `values` are those of all columns; otherwise
/// they are those of these columns, which ascend.
struct RawRow {
    std::span<const std::int64_t> columns;
    std::span<const double> values;
};

/// Rows in a temporary file without a name, so that data sets need not fit into memory. Takes 8
/// bytes of memory a row, and a buffer. Local.
class Spool {
public:
    /// @param beside  a file in the folder to use  @throws Failure if no file can be made there
    explicit Spool(const std::string& beside);
    Spool(const Spool&) = delete;
    Spool& operator=(const Spool&) = delete;
    ~Spool();

    /// Appends a row. @throws Failure if the disk is full
    void add(const RawRow& row);
    std::int64_t rows() const { return static_cast<std::int64_t>(start_.size()) - 1; }
    /// Reads row i; valid until the next call. Fastest if rows are read in their order.
    /// @throws Failure if it cannot be read
    RawRow row(std::int64_t i);

private:
    void flush();
    const char* bytes(std::int64_t first, std::int64_t count);
    [[noreturn]] void fail(const std::string& what) const;

    std::string folder_;
    int file_ = -1;
    std::vector<std::int64_t> start_ = {0};  // the byte at which each row begins, and the end
    std::vector<char> unwritten_, window_;   // window: bytes [window_first_, + its size)
    std::int64_t window_first_ = 0;
    std::vector<std::int64_t> columns_;
    std::vector<double> values_;
};

}  // namespace quorate
