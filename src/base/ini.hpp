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

/// Reads all values in their order. Lines that begin with # or ;, and what follows " #", are
/// comments. @param where  the file's name  @throws BadInput with file and line if it is no INI file
std::vector<IniValue> parse_ini(const std::string& text, const std::string& where);
/// Likewise, of a file.
std::vector<IniValue> read_ini(const std::string& path);

}  // namespace quorate
