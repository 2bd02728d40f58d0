// SPDX-License-Identifier: BSD-2-Clause
#include "job/ini.hpp"

#include <fmt/format.h>

#include <boost/property_tree/ini_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <fstream>
#include <map>

#include "base/error.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

// Finds the lines of values, because Boost tells the line of an error but not that of a value.
std::map<std::pair<std::string, std::string>, int> lines_of(const std::string& path)
{
    std::map<std::pair<std::string, std::string>, int> lines;
    std::ifstream file(path);
    std::string line, section;
    for (int number = 1; std::getline(file, line); ++number) {
        const auto text = trimmed(line);
        if (text.starts_with('[') && text.ends_with(']'))
            section = trimmed(text.substr(1, text.size() - 2));
        else
            lines.emplace(std::pair(section, trimmed(text.substr(0, text.find('=')))), number);
    }
    return lines;
}

}  // namespace

std::vector<IniValue> read_ini(const std::string& path)
{
    namespace pt = boost::property_tree;
    std::ifstream file(path);
    if (!file) throw BadInput("cannot read " + path + ": give an INI file");
    pt::ptree tree;
    try {
        pt::read_ini(file, tree);
    } catch (const pt::ini_parser_error& error) {
        throw BadInput(fmt::format("{}:{}: {}: write lines 'name = value' and '[section]'", path,
                                   error.line(), error.message()));
    }
    const auto lines = lines_of(path);
    std::vector<IniValue> values;
    const auto add = [&](const std::string& section, const std::string& name,
                         const std::string& text) {
        const auto at = lines.find({section, name});
        values.push_back(
            {section, name, text,
             at == lines.end() ? path + ": " : fmt::format("{}:{}: ", path, at->second)});
    };
    for (const auto& [name, node] : tree) {
        if (node.empty()) add("", name, node.data());
        for (const auto& [key, value] : node) add(name, key, value.data());
    }
    return values;
}

}  // namespace quorate
