// SPDX-License-Identifier: BSD-2-Clause
// How a table of text is written: what separates its fields, and which of its lines and fields
// belong to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"

namespace quorate {

/// The separator that stands for any number of blanks and tabs, also at the ends of a line.
inline constexpr char blanks_separate = ' ';

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
bool begins_like_csv(std::string_view bytes);

/// Returns which of comma, semicolon, tab and bar separates the fields of these lines: one that
/// gives each line as many fields, then that of which the first line has most, outside quotes; of
/// several the first. Blanks if there are none of them, and all lines have as many words, but more
/// than one.
/// @param without  one that it is not
char guessed_separator(const std::vector<std::string>& lines, char without = '\0');

/// How many fields a line has. O(line).
std::size_t fields_in(std::string_view line, char separator);

}  // namespace quorate
