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
    /// Of a piece of a file. @param before  lines that came before it
    CsvRecords(std::istream& in, const std::string& name, std::vector<std::string> header,
               std::int64_t before)
        : lines_(in, name, before), header_(std::move(header))
    {
    }

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

}  // namespace quorate
