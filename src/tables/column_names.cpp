// SPDX-License-Identifier: BSD-2-Clause
#include "tables/column_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/quoted.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

using Names = std::vector<std::string>;
using Columns = std::vector<std::size_t>;

const std::string unnamed = "unnamed";

// What columns that share a name are called: "x (1 of 2)".
std::string made_name(const std::string& name, std::size_t number, std::size_t of)
{
    return fmt::format("{} ({} of {})", name.empty() ? unnamed : name, number, of);
}

// Whether a column is called so because it shares this name with others.
bool is_made_of(const std::string& made, const std::string& name)
{
    auto rest = std::string_view(made);
    if (!rest.starts_with(name)) return false;
    rest.remove_prefix(name.size());
    const std::string_view open = " (", middle = " of ", close = ")";
    const auto at = rest.find(middle);
    if (!rest.starts_with(open) || !rest.ends_with(close) || at == std::string_view::npos)
        return false;
    const auto number = to_integer(rest.substr(0, at).substr(open.size()));
    rest.remove_prefix(at + middle.size());
    const auto of = to_integer(rest.substr(0, rest.size() - close.size()));
    return number && of && 1 <= *number && *number <= *of;
}

std::string unknown(const Names& names, const std::string& name, const std::string& option,
                    const std::string& file)
{
    Names written;  // as the option can hold them
    for (const auto& one : names) written.push_back(quoted_if_needed(one));
    return fmt::format("--{} names {}, which is not a column of {}{}{}", option,
                       name.empty() ? "a column without a name" : shown(name), file,
                       shown_near(name, written),
                       written == names ? "" : "; write names with commas in double quotes");
}

// The columns that a piece of an option names.
Columns named(const Names& names, const std::string& piece)
{
    return columns_called(names, unquoted(piece));
}

// The way to cut a word of an option into names of columns, each of one or of all that share it;
// nothing: there is none.
// @param between  what stands between them  @throws BadInput if there are two ways
std::optional<std::pair<Columns, Columns>> two_names(const Names& names, const std::string& word,
                                                     const std::string& between,
                                                     const Settings& settings,
                                                     const std::string& option)
{
    std::optional<std::pair<Columns, Columns>> found;
    for (const auto& [left, right] : cuts(word, between)) {
        std::pair both(named(names, left), named(names, right));
        if (both.first.empty() || both.second.empty()) continue;
        if (found)
            settings.refuse(option, fmt::format(", in which {} has two readings: write the names "
                                                "in double quotes",
                                                shown(word)));
        found = std::move(both);
    }
    return found;
}

// What of a word that cannot be read is the name of no column.
std::string unknown_name(const Names& names, const std::string& word, const std::string& between)
{
    const auto ends = cuts(word, between);
    if (ends.size() != 1) return unquoted(word);
    const auto& [left, right] = ends[0];
    return unquoted(named(names, left).empty() ? left : right);
}

}  // namespace

std::vector<std::string> unique_names(const std::vector<std::string>& header,
                                      const std::string& file)
{
    std::map<std::string, std::size_t> count, seen;
    for (const auto& name : header) ++count[name];
    Names names;
    std::set<std::string> taken;
    for (const auto& name : header) {
        const auto of = count[name];
        names.push_back(of == 1 ? name : made_name(name, ++seen[name], of));
        if (!taken.insert(names.back()).second)
            throw BadInput(
                fmt::format("{} has two columns that would be called {}: give each a "
                            "name of its own",
                            file, shown(names.back())));
    }
    return names;
}

std::string words_of_made_names(const std::vector<std::string>& header,
                                const std::vector<std::string>& names, const std::string& file)
{
    Names pieces;
    std::set<std::string> said;
    for (std::size_t i = 0; i < header.size(); ++i) {
        if (header[i] == names[i] || !said.insert(header[i]).second) continue;
        const auto columns = columns_called(names, header[i]);
        Names theirs;
        for (const auto column : columns) theirs.push_back("'" + names[column] + "'");
        pieces.push_back(fmt::format(
            "{} columns are {} and become {}", columns.size(),
            header[i].empty() ? "without a name" : "called " + shown(header[i]), shown(theirs)));
    }
    return pieces.empty() ? "" : fmt::format("{}: {}", file, fmt::join(pieces, "; "));
}

std::vector<std::size_t> columns_called(const std::vector<std::string>& names,
                                        const std::string& name)
{
    Columns exactly, shared;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) exactly.push_back(i);
        if (is_made_of(names[i], name.empty() ? unnamed : name)) shared.push_back(i);
    }
    return exactly.empty() ? shared : exactly;
}

std::size_t one_column(const std::vector<std::string>& names, const std::string& name,
                       const std::string& option, const std::string& file)
{
    auto columns = columns_called(names, name);
    if (columns.empty()) columns = columns_called(names, unquoted(name));
    if (columns.empty()) throw BadInput(unknown(names, name, option, file));
    if (columns.size() == 1) return columns[0];
    Names theirs;
    for (const auto column : columns) theirs.push_back("'" + names[column] + "'");
    throw BadInput(fmt::format(
        "--{} names {}, which {} columns of {} are called: give {}, and --drop the others", option,
        shown(name), columns.size(), file, alternatives(theirs)));
}

std::set<std::size_t> columns_listed(const std::vector<std::string>& names,
                                     const Settings& settings, const std::string& option,
                                     const std::string& file)
{
    std::set<std::size_t> columns;
    if (!settings.on(option)) return columns;
    const auto text = trimmed(settings.text(option));
    const bool is_name = !columns_called(names, text).empty();
    for (const auto& word : is_name ? Names{quoted_if_needed(text)} : split_quoted(text, ',')) {
        if (const auto ones = named(names, word); !ones.empty()) {
            columns.insert(ones.begin(), ones.end());
            continue;
        }
        const auto range = two_names(names, word, "..", settings, option);
        if (!range) throw BadInput(unknown(names, unknown_name(names, word, ".."), option, file));
        const auto first = range->first.front(), last = range->second.back();
        if (last < first) settings.refuse(option, ", but the range " + shown(word) + " is empty");
        for (auto column = first; column <= last; ++column) columns.insert(column);
    }
    return columns;
}

std::set<std::pair<std::size_t, std::size_t>> pairs_listed(const std::vector<std::string>& names,
                                                           const Settings& settings,
                                                           const std::string& option)
{
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    if (!settings.on(option)) return pairs;
    for (const auto& word : split_quoted(settings.text(option), ',')) {
        const auto both = two_names(names, word, "*", settings, option);
        if (!both && cuts(word, "*").size() != 1)
            settings.refuse(option,
                            ": write pairs A*B, separated by commas, and names with commas "
                            "or stars in double quotes");
        if (!both) {
            const auto name = unknown_name(names, word, "*");
            throw BadInput(fmt::format("--{} names {}, which is not a column that is used{}",
                                       option, shown(name), shown_near(name, names)));
        }
        for (const auto a : both->first)
            for (const auto b : both->second) pairs.insert(std::minmax(a, b));
    }
    return pairs;
}

}  // namespace quorate
