// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <istream>
#include <string>
#include <vector>

namespace quorate {

/// A table of words. Cells are stored row by row.
struct CsvTable {
    std::vector<std::string> header;
    std::vector<std::string> cells;  // rows x header.size()
    std::size_t rows() const { return header.empty() ? 0 : cells.size() / header.size(); }
    const std::string& cell(std::size_t row, std::size_t column) const
    {
        return cells[row * header.size() + column];
    }
    /// Appends the rows of a table with the same header. @throws BadInput if it differs
    void append(const CsvTable& more, const std::string& name);
};

/// Reads comma-separated values with a header line (RFC 4180: quoted fields, doubled quotes, line
/// ends inside quotes). @throws BadInput with file, line and column of what is wrong
CsvTable read_csv(std::istream& in, const std::string& name);

}  // namespace quorate
