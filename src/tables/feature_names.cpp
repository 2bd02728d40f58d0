// SPDX-License-Identifier: BSD-2-Clause
#include "tables/feature_names.hpp"

#include "base/quoted.hpp"

namespace quorate {

namespace {

std::string quoted_if(const std::string& name, const char* special)
{
    return name.find_first_of(special) == std::string::npos ? name : double_quoted(name);
}

// Returns where a character stands first outside quotes; npos: nowhere.
std::size_t first_outside_quotes(const std::string& text, char wanted)
{
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') inside = !inside;
        if (text[i] == wanted && !inside) return i;
    }
    return std::string::npos;
}

}  // namespace

// The first = outside quotes ends the columns; of a level, all that follows is its text. Of a pair,
// the first star outside quotes before and behind it ends the first part. So the parts can be read
// from the name, and differ if names do.
std::string feature_name(const std::string& column) { return quoted_if(column, "=*\""); }

std::string feature_name(const std::string& column, const std::string& level)
{
    return feature_name(column) + "=" + level;
}

std::string feature_name(const std::string& a, const std::string& b, const std::string& level_of_a,
                         const std::string& level_of_b)
{
    return feature_name(a) + "*" + feature_name(b) + "=" + quoted_if(level_of_a, "*\"") + "*" +
           level_of_b;
}

FeatureParts parts_of_feature(const std::string& name)
{
    const auto end = first_outside_quotes(name, '=');
    FeatureParts parts{name.substr(0, end), "", {}};
    if (end != std::string::npos) parts.level = name.substr(end + 1);
    if (const auto star = first_outside_quotes(parts.column, '*'); star != std::string::npos) {
        parts.second = parts.column.substr(star + 1);
        parts.column.resize(star);
    }
    return parts;
}

}  // namespace quorate
