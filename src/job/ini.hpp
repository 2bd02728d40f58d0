// SPDX-License-Identifier: BSD-2-Clause
// INI files with sections, whose values know where they stand.
#pragma once

#include <string>
#include <vector>

namespace quorate {

struct IniValue {
    std::string section, name, text;
    std::string origin;  // "jobs/x.ini:12: "
};

/// In the order of the file. @throws BadInput with file and line if it is no INI file
std::vector<IniValue> read_ini(const std::string& path);

}  // namespace quorate
