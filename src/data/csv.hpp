// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "data/source.hpp"

namespace quorate {

/// Reads comma-separated values (RFC 4180: quoted fields, doubled quotes, line ends inside quotes)
/// record by record. Empty lines are skipped. Errors are BadInput with file, line and column.
class CsvRecords {
public:
    /// Reads the header line. @throws BadInput if there is none
    CsvRecords(std::istream& in, const std::string& name);

    const std::vector<std::string>& header() const { return header_; }
    /// The next record, with as many fields as the header. @return false at the end of the file
    bool next(std::vector<std::string>& fields);
    /// Where the last record began.
    std::int64_t line() const { return line_; }
    const std::string& name() const { return lines_.name(); }
    /// @throws BadInput "FILE:LINE:COLUMN: wrong", the place of that field of the last record
    [[noreturn]] void refuse(std::size_t field, const std::string& wrong) const;

private:
    struct Place {
        std::int64_t line;
        std::size_t column;
    };

    bool read(std::vector<std::string>& fields);

    Lines lines_;
    std::string text_;  // the line at hand
    std::vector<std::string> header_;
    std::vector<Place> places_;  // of the last record's fields
    std::int64_t line_ = 0;
};

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

/// Reads all records behind a header line. @throws BadInput as CsvRecords, or if there are none
CsvTable read_csv(std::istream& in, const std::string& name);

}  // namespace quorate
