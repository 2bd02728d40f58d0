// SPDX-License-Identifier: BSD-2-Clause
#include "base/ini.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"

namespace quorate {

std::vector<IniValue> parse_ini(const std::string& text, const std::string& where)
{
    std::vector<IniValue> values;
    std::istringstream in(text);
    std::string raw, section;
    for (int number = 1; std::getline(in, raw); ++number) {
        const auto refuse = [&](const char* wrong) {
            throw BadInput(fmt::format("{}:{}: {}: write lines 'name = value' and '[section]'",
                                       where, number, wrong));
        };
        const auto line = trimmed(raw);
        if (line.empty() || line.starts_with('#') || line.starts_with(';')) continue;
        if (line.starts_with('[')) {
            const auto end = line.find(']');
            if (end == std::string::npos) refuse("unmatched '['");
            section = trimmed(line.substr(1, end - 1));
            const bool known = std::ranges::any_of(values, [&](const IniValue& value) {
                return (value.section.empty() ? value.name : value.section) == section;
            });
            if (known) refuse("duplicate section name");
            continue;
        }
        const auto equals = line.find('=');
        if (equals == std::string::npos) refuse("'=' character not found in line");
        if (equals == 0) refuse("key expected");
        const auto name = trimmed(line.substr(0, equals));
        const bool known = std::ranges::any_of(values, [&](const IniValue& value) {
            return value.section == section && value.name == name;
        });
        if (known) refuse("duplicate key name");
        values.push_back({section, name, trimmed(line.substr(equals + 1)),
                          fmt::format("{}:{}: ", where, number)});
    }
    return values;
}

std::vector<IniValue> read_ini(const std::string& path)
{
    std::ifstream file(path);
    if (!file || std::filesystem::is_directory(path))
        throw BadInput("cannot read " + path + ": give an INI file");
    std::ostringstream text;
    text << file.rdbuf();
    auto values = parse_ini(text.str(), path);
    for (auto& value : values) value.text = trimmed(value.text.substr(0, value.text.find(" #")));
    return values;
}

}  // namespace quorate
