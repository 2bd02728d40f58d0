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

/// Reads all values in their order. Lines that begin with # or ; are comments.
/// @param where  what the text is called in messages
/// @throws BadInput with `where` and the line if it is no INI text
std::vector<IniValue> parse_ini(const std::string& text, const std::string& where);
/// Reads a file likewise. What follows " #" in a line is a comment too: users write files, while a
/// recorded value, which may be such a path, is whole.
std::vector<IniValue> read_ini(const std::string& path);

}  // namespace quorate
