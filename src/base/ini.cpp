// SPDX-License-Identifier: BSD-2-Clause
#include "base/ini.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

// Returns what stands between the quotes around a value. A value without them, or with another
// quote between, is returned as it stands.
std::string unquoted(const std::string& value)
{
    if (value.size() < 2 || value.front() != '"' || value.back() != '"') return value;
    std::string text;
    for (std::size_t i = 1; i + 1 < value.size(); ++i) {
        if (value[i] == '"') return value;
        const char next = value[i + 1];
        if (value[i] != '\\' || std::string_view("nr\"\\").find(next) == std::string_view::npos) {
            text += value[i];
            continue;
        }
        if (++i + 1 == value.size()) return value;  // the last quote is one of the text
        text += next == 'n' ? '\n' : next == 'r' ? '\r' : next;
    }
    return text;
}

}  // namespace

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
            if (!line.ends_with(']')) refuse("unmatched '['");
            section = trimmed(line.substr(1, line.size() - 2));
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
        values.push_back({section, name, unquoted(trimmed(line.substr(equals + 1))),
                          fmt::format("{}:{}: ", where, number)});
    }
    return values;
}

std::vector<IniValue> read_ini(const std::string& path)
{
    const auto text = contents_of(path);
    if (!text) throw BadInput("cannot read " + path + ": give an INI file");
    return parse_ini(*text, path);
}

std::string ini_text(const std::string& value)
{
    const bool stands = value == trimmed(value) && value == unquoted(value) &&
                        value.find_first_of("\n\r") == std::string::npos;
    if (stands) return value;
    std::string text = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') text += '\\';
        text += c == '\n' ? "\\n" : c == '\r' ? "\\r" : std::string(1, c);
    }
    return text + "\"";
}

}  // namespace quorate
