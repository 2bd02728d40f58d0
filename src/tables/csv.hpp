// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "tables/csv_dialect.hpp"
#include "tables/source.hpp"

namespace quorate {

/// Reads comma-separated values (RFC 4180: quoted fields, doubled quotes, line ends inside quotes),
/// or values with another separator, record by record. Blanks may stand around quotes. Skips blank
/// lines, and comments: lines of one field that begins with #, if records have more. What is wrong
/// with the text is thrown as BadInput with file, line and column. Local.
class CsvRecords {
public:
    /// Reads the header line.
    /// @param in    must outlive this object  @param name  of the file, for messages
    /// @throws BadInput if there is no header
    CsvRecords(std::istream& in, const std::string& name, const CsvDialect& dialect = {});
    /// Reads a piece of a file, which has no header line.
    /// @param header  of the file  @param before  number of lines that come before the piece
    CsvRecords(std::istream& in, const std::string& name, std::vector<std::string> header,
               std::int64_t before, const CsvDialect& dialect)
        : lines_(in, name, before), dialect_(dialect),
          strip_hash_(dialect.header_in_comment && before == 0), header_(std::move(header))
    {
    }

    const std::vector<std::string>& header() const { return header_; }
    /// Reads the next record. @return false at the end of the file
    /// @throws BadInput if it does not have as many fields as the header
    bool next(std::vector<std::string>& fields);
    /// The line at which the last record began, from 1.
    std::int64_t line() const { return line_; }
    const std::string& name() const { return lines_.name(); }
    /// Throws BadInput "FILE:LINE:COLUMN: wrong" with the place of a field of the last record.
    /// @param field  its number, from 0
    [[noreturn]] void refuse(std::size_t field, const std::string& wrong) const;

private:
    struct Place {
        std::int64_t line;
        std::size_t column;
    };

    bool read(std::vector<std::string>& fields);
    bool next_line();
    std::size_t skip_blanks(std::size_t at) const;
    std::size_t quoted(std::size_t at, std::string& field);
    std::size_t unquoted(std::size_t at, std::string& field) const;

    Lines lines_;
    CsvDialect dialect_;
    bool strip_hash_;   // whether the next line is a header that begins with #
    std::string text_;  // the line that is being read
    std::vector<std::string> header_;
    std::vector<Place> places_;  // of the last record's fields
    std::int64_t line_ = 0;
};

}  // namespace quorate
