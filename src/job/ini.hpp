// SPDX-License-Identifier: BSD-2-Clause
// INI files with sections. Each value knows where it stands, for messages.
#pragma once

#include <string>
#include <vector>

namespace quorate {

/// A value of an INI file.
struct IniValue {
    std::string section, name, text;
    std::string origin;  // file and line, "jobs/x.ini:12: "
};

/// Reads all values in the order of the file. @throws BadInput with file and line if it is no INI
/// file
std::vector<IniValue> read_ini(const std::string& path);

}  // namespace quorate
