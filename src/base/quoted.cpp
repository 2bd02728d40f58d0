// SPDX-License-Identifier: BSD-2-Clause
#include "base/quoted.hpp"

#include <boost/algorithm/string/replace.hpp>

#include "base/text.hpp"

namespace quorate {

namespace {

constexpr auto nowhere = std::string_view::npos;

// Where the quote that opens at `open` closes; nowhere: it does not.
std::size_t closing(std::string_view text, std::size_t open)
{
    for (auto at = text.find('"', open + 1); at != nowhere; at = text.find('"', at + 1)) {
        if (!text.substr(at + 1).starts_with('"')) return at;
        ++at;
    }
    return nowhere;
}

bool begins_name(std::string_view before)
{
    before = before.substr(0, before.find_last_not_of(" \t") + 1);
    return before.empty() || before.ends_with("..") ||
           std::string_view(",:*").find(before.back()) != nowhere;
}

// For each letter, whether it stands in quotes or is one.
std::vector<bool> in_quotes(std::string_view text)
{
    std::vector<bool> inside(text.size(), false);
    for (auto at = text.find('"'); at != nowhere; at = text.find('"', at)) {
        const auto end = begins_name(text.substr(0, at)) ? closing(text, at) : nowhere;
        if (end == nowhere) {
            ++at;
            continue;
        }
        std::fill(inside.begin() + static_cast<std::ptrdiff_t>(at),
                  inside.begin() + static_cast<std::ptrdiff_t>(end) + 1, true);
        at = end + 1;
    }
    return inside;
}

}  // namespace

std::vector<std::string> split_quoted(std::string_view text, char separator)
{
    const auto inside = in_quotes(text);
    std::vector<std::string> pieces;
    std::size_t first = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        if (at < text.size() && (inside[at] || text[at] != separator)) continue;
        pieces.push_back(trimmed(text.substr(first, at - first)));
        first = at + 1;
    }
    return pieces;
}

std::vector<std::pair<std::string, std::string>> cuts(std::string_view text,
                                                      std::string_view separator)
{
    const auto inside = in_quotes(text);
    std::vector<std::pair<std::string, std::string>> all;
    for (auto at = text.find(separator); at != nowhere; at = text.find(separator, at + 1))
        if (!inside[at])
            all.emplace_back(trimmed(text.substr(0, at)),
                             trimmed(text.substr(at + separator.size())));
    return all;
}

std::string unquoted(std::string_view piece)
{
    auto text = trimmed(piece);
    if (!text.starts_with('"') || closing(text, 0) + 1 != text.size()) return text;
    return boost::replace_all_copy(text.substr(1, text.size() - 2), "\"\"", "\"");
}

std::string double_quoted(const std::string& name)
{
    return '"' + boost::replace_all_copy(name, "\"", "\"\"") + '"';
}

std::string quoted_if_needed(const std::string& name)
{
    const bool needs = name.empty() || trimmed(name) != name ||
                       name.find_first_of(",:*\"") != std::string::npos ||
                       name.find("..") != std::string::npos;
    return needs ? double_quoted(name) : name;
}

}  // namespace quorate
