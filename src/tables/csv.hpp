// SPDX-License-Identifier: BSD-2-Clause
// Tables as text: values separated by commas, semicolons, tabs, bars or blanks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "tables/source.hpp"

namespace quorate {

/// The separator that stands for any number of blanks and tabs, also at the ends of a line.
inline constexpr char blanks_separate = ' ';

/// How a table of text is written: what separates its fields, and which of its lines and fields
/// belong to it.
struct CsvDialect {
    char separator = ',';
    std::int64_t skipped = 0;  // lines before the header, or before the first row if there is none
    bool header_in_comment = false;  // the header begins with #, as numpy.savetxt writes it
    bool trailing = false;           // lines end with a separator, behind which there is nothing
};

Option separator_option();

/// Finds out how a table is written, and says what of it is left out.
/// @param beginning  of the file, whole records  @param path  of the file, for messages
/// @throws BadInput for options that do not go together
CsvDialect csv_dialect(const Settings& settings, const std::string& beginning,
                       const std::string& path);

/// Whether a file is a table rather than LIBSVM text, whose fields tabs may separate and whose
/// comments may have commas.
/// @param bytes  the beginning of the file
bool begins_like_csv(std::string bytes);

/// Returns which of comma, semicolon, tab and bar separates the fields of these lines: one that
/// gives each line as many fields, then that of which the first line has most, outside quotes; of
/// several the first. Blanks if there are none of them, and all lines have as many words, but more
/// than one.
/// @param without  one that it is not
char guessed_separator(const std::vector<std::string>& lines, char without = '\0');

/// The fields of a line as they stand, with their quotes. O(line).
std::vector<std::string> fields_of(std::string_view line, char separator);

/// Reads comma-separated values (RFC 4180: quoted fields, doubled quotes, line ends inside quotes),
/// or values with another separator, record by record. Blanks may stand around quotes. Skips blank
/// lines, and comments: lines of one field that begins with #, if records have more. What is wrong
/// with the text is thrown as BadInput with file, line and column. Local.
class CsvRecords {
public:
    /// Reads the header line.
    /// @param text  the beginning of a file, or all of it  @param name  of the file, for messages
    /// @throws BadInput if there is no header
    CsvRecords(TextBlock text, const std::string& name, const CsvDialect& dialect = {});
    /// Reads a piece of a file, which has no header line.
    /// @param header  of the file
    CsvRecords(TextBlock piece, const std::string& name, std::vector<std::string> header,
               const CsvDialect& dialect)
        : dialect_(dialect), strip_hash_(dialect.header_in_comment && piece.first_line == 1),
          lines_(std::move(piece), name), header_(std::move(header))
    {
    }

    const std::vector<std::string>& header() const { return header_; }
    /// Reads the next record. @return false at the end of the text
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

    CsvDialect dialect_;
    bool strip_hash_;  // whether the next line is a header that begins with #
    Lines lines_;
    std::string text_;  // the line that is being read
    std::vector<std::string> header_;
    std::vector<Place> places_;  // of the last record's fields
    std::int64_t line_ = 0;
};

}  // namespace quorate
