// SPDX-License-Identifier: BSD-2-Clause
#include "tables/column_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

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

// The name that such a column shares with others.
std::optional<std::string> shared_name(const std::string& made)
{
    const auto open = made.rfind(" ("), middle = made.rfind(" of ");
    if (open == std::string::npos || middle == std::string::npos || middle < open) return {};
    const auto name = made.substr(0, open);
    const auto number = to_integer(made.substr(open + 2, middle - open - 2)),
               of = to_integer(made.substr(middle + 4, made.size() - middle - 5));
    if (!number || !of || *number < 1 || *number > *of) return {};
    const auto same =
        made_name(name, static_cast<std::size_t>(*number), static_cast<std::size_t>(*of));
    return same == made ? std::optional(name) : std::nullopt;
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

// A way to read a word: as a name, or as two of them, each of one column or of all that share it.
struct Meaning {
    Columns first, second;
    bool is_two = false;
};

// All ways to read a word.
// @param between  what stands between two names
std::vector<Meaning> meanings(const Names& names, const std::string& word,
                              const std::string& between)
{
    std::vector<Meaning> all;
    if (auto columns = columns_called(names, unquoted(word)); !columns.empty())
        all.push_back({std::move(columns), {}, false});
    for (const auto& [left, right] : cuts(word, between)) {
        Meaning one{columns_called(names, unquoted(left)), columns_called(names, unquoted(right)),
                    true};
        if (!one.first.empty() && !one.second.empty()) all.push_back(std::move(one));
    }
    return all;
}

// The words of a list. All of it is one word if it is the name of a column and its pieces are none.
Names words_of(const Names& names, const Settings& settings, const std::string& option,
               const std::string& between)
{
    const auto& text = settings.text(option);
    auto pieces = split_quoted(text, ',');
    if (pieces.size() < 2 || columns_called(names, trimmed(text)).empty()) return pieces;
    if (std::ranges::all_of(
            pieces, [&](const auto& piece) { return !meanings(names, piece, between).empty(); }))
        settings.refuse(option,
                        ", which is a column and a list of columns: write the name in double "
                        "quotes, or the names of the list");
    return {trimmed(text)};
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
        if (shared_name(names[i]) == (name.empty() ? unnamed : name)) shared.push_back(i);
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
    for (const auto& word : words_of(names, settings, option, "..")) {
        const auto readings = meanings(names, word, "..");
        if (readings.size() > 1)
            settings.refuse(option, fmt::format(", in which {} is a column and a range: write the "
                                                "names in double quotes",
                                                shown(word)));
        if (readings.empty()) {
            const auto ends = cuts(word, "..");
            const auto name = ends.size() != 1 ? word
                              : columns_called(names, unquoted(ends[0].first)).empty()
                                  ? ends[0].first
                                  : ends[0].second;
            throw BadInput(unknown(names, unquoted(name), option, file));
        }
        const auto& [first, second, is_range] = readings[0];
        if (!is_range) {
            columns.insert(first.begin(), first.end());
            continue;
        }
        if (second.back() < first.front())
            settings.refuse(option, ", but the range " + shown(word) + " is empty");
        for (auto column = first.front(); column <= second.back(); ++column) columns.insert(column);
    }
    return columns;
}

std::set<std::pair<std::size_t, std::size_t>> pairs_listed(const std::vector<std::string>& names,
                                                           const Settings& settings,
                                                           const std::string& option)
{
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    if (!settings.on(option)) return pairs;
    for (const auto& word : words_of(names, settings, option, "*")) {
        const auto parts = cuts(word, "*");
        auto readings = meanings(names, word, "*");
        std::erase_if(readings, [](const Meaning& one) { return !one.is_two; });
        if (parts.empty() || (readings.empty() && parts.size() > 1))
            settings.refuse(option,
                            ": write pairs A*B, separated by commas, and names with commas "
                            "or stars in double quotes");
        if (readings.size() > 1)
            settings.refuse(option, fmt::format(", in which {} has two readings: write the names "
                                                "in double quotes",
                                                shown(word)));
        if (readings.empty()) {
            const auto& [left, right] = parts[0];
            const auto name =
                unquoted(columns_called(names, unquoted(left)).empty() ? left : right);
            throw BadInput(fmt::format("--{} names {}, which is not a column that is used{}",
                                       option, shown(name), shown_near(name, names)));
        }
        for (const auto a : readings[0].first)
            for (const auto b : readings[0].second) pairs.insert(std::minmax(a, b));
    }
    return pairs;
}

}  // namespace quorate
