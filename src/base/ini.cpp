// SPDX-License-Identifier: BSD-2-Clause
#include "base/ini.hpp"

#include <fmt/format.h>

#include <boost/property_tree/ini_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

// Finds the lines of values, because Boost tells the line of an error but not that of a value.
std::map<std::pair<std::string, std::string>, int> lines_of(const std::string& text)
{
    std::map<std::pair<std::string, std::string>, int> lines;
    std::istringstream in(text);
    std::string raw, section;
    for (int number = 1; std::getline(in, raw); ++number) {
        const auto line = trimmed(raw);
        if (line.starts_with('[') && line.ends_with(']'))
            section = trimmed(line.substr(1, line.size() - 2));
        else
            lines.emplace(std::pair(section, trimmed(line.substr(0, line.find('=')))), number);
    }
    return lines;
}

}  // namespace

std::vector<IniValue> parse_ini(const std::string& text, const std::string& where)
{
    namespace pt = boost::property_tree;
    pt::ptree tree;
    try {
        std::istringstream in(text);
        pt::read_ini(in, tree);
    } catch (const pt::ini_parser_error& error) {
        throw BadInput(fmt::format("{}:{}: {}: write lines 'name = value' and '[section]'", where,
                                   error.line(), error.message()));
    }
    const auto lines = lines_of(text);
    std::vector<IniValue> values;
    const auto add = [&](const std::string& section, const std::string& name,
                         const std::string& value) {
        const auto at = lines.find({section, name});
        values.push_back(
            {section, name, value,
             at == lines.end() ? where + ": " : fmt::format("{}:{}: ", where, at->second)});
    };
    for (const auto& [name, node] : tree) {
        if (node.empty()) add("", name, node.data());
        for (const auto& [key, value] : node) add(name, key, value.data());
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
