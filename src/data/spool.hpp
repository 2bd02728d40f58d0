// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quorate {

/// A row as its file has it: dense if `columns` is empty, else its columns, ascending, and their values.
struct RawRow {
    std::span<const std::int64_t> columns;
    std::span<const double> values;
};

/// Rows on disk, in a file without a name: data sets need not fit into memory. Memory: 8 bytes a row.
class Spool {
public:
    /// @param beside  a file in the folder to use  @throws Failure
    explicit Spool(const std::string& beside);
    Spool(const Spool&) = delete;
    Spool& operator=(const Spool&) = delete;
    ~Spool();

    /// @throws Failure if the disk is full
    void add(const RawRow& row);
    std::int64_t rows() const { return static_cast<std::int64_t>(start_.size()) - 1; }
    /// Any row, fastest in their order; valid until the next call.
    RawRow row(std::int64_t i);

private:
    void flush();
    const char* bytes(std::int64_t first, std::int64_t count);
    [[noreturn]] void fail(const std::string& what) const;

    std::string folder_;
    int file_ = -1;
    std::vector<std::int64_t> start_ = {0};  // byte at which each row begins, and the end
    std::vector<char> unwritten_, window_;   // window: bytes [window_first_, + its size)
    std::int64_t window_first_ = 0;
    std::vector<std::int64_t> columns_;
    std::vector<double> values_;
};

}  // namespace quorate
