// SPDX-License-Identifier: BSD-2-Clause
// Lines `name = value`, in sections or not: configurations, experiments, profiles, and the options
// that a trace records. Each value knows where it stands, for messages.
#pragma once

#include <string>
#include <vector>

namespace quorate {

struct IniValue {
    std::string section, name, text;
    std::string origin;  // file and line, "jobs/x.ini:12: "
};

/// Reads all values in their order. Lines that begin with # or ; are comments; there are no others,
/// because a path may hold " #". A value in double quotes is what stands between them, with \n, \r,
/// \" and \\ for a line break, a carriage return, a quote and a backslash.
/// @param where  what the text is called in messages
/// @throws BadInput with `where` and the line if it is no INI text
std::vector<IniValue> parse_ini(const std::string& text, const std::string& where);
/// Reads a file likewise.
std::vector<IniValue> read_ini(const std::string& path);

/// Returns a value as a line holds it, so that parse_ini() reads the same text: as it stands, or in
/// quotes if blanks at its ends, line breaks or quotes around it would be lost.
std::string ini_text(const std::string& value);

}  // namespace quorate
