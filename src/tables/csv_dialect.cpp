// SPDX-License-Identifier: BSD-2-Clause
#include "tables/csv_dialect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view separators = ",;\t|";

struct Line {
    std::int64_t number;  // from 1
    std::string text;
};

// The first lines of a text that are not blank. A line goes on behind a line end inside quotes,
// unless it is a comment.
std::vector<Line> first_lines(std::string_view text)
{
    constexpr std::size_t most = 40;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    std::vector<Line> lines;
    std::int64_t number = 1;
    while (!text.empty() && lines.size() < most) {
        Line line{number, {}};
        bool quoted = false;
        std::size_t end = 0;
        for (; end < text.size() && (quoted || (text[end] != '\n' && text[end] != '\r')); ++end) {
            quoted ^= text[end] == '"' && !text.starts_with('#');
            number += text[end] == '\n';
        }
        line.text = text.substr(0, end);
        text.remove_prefix(
            std::min(end + (text.substr(end).starts_with("\r\n") ? 2 : 1), text.size()));
        ++number;
        if (!trimmed(line.text).empty()) lines.push_back(std::move(line));
    }
    return lines;
}

bool is_comment(const Line& line) { return line.text.starts_with('#'); }

// Splits a line into words. @return views of the line
std::vector<std::string_view> words_of(std::string_view line)
{
    std::vector<std::string_view> words;
    for (auto at = line.find_first_not_of(blanks); at != std::string_view::npos;) {
        const auto end = std::min(line.find_first_of(blanks, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(blanks, end);
    }
    return words;
}

// Whether a word is index:value, or the query id of a ranking.
bool is_pair(std::string_view word)
{
    const auto colon = word.find(':');
    if (colon == std::string_view::npos) return false;
    const auto index = word.substr(0, colon);
    return (index == "qid" || to_integer(index)) &&
           word.find_first_of(",;|", colon) == std::string_view::npos;
}

// A label and pairs, or pairs alone, as rows to predict have them.
bool is_libsvm(std::string_view line)
{
    const auto words = words_of(line.substr(0, line.find('#')));
    const auto pairs = std::span(words).subspan(words.empty() || is_pair(words[0]) ? 0 : 1);
    return !pairs.empty() && std::ranges::all_of(pairs, is_pair);
}

// The separator that the first line of a spreadsheet's file may tell: sep=;
std::optional<char> told_separator(const std::vector<Line>& lines)
{
    const std::string_view prefix = "sep=";
    if (lines.empty()) return std::nullopt;
    auto text = lines[0].text;
    std::erase(text, '"');
    if (!boost::algorithm::istarts_with(text, prefix) || text.size() != prefix.size() + 1)
        return std::nullopt;
    return text.back();
}

// The header without the # before it.
std::string without_hash(const std::string& line)
{
    return line.substr(std::min(line.find_first_not_of("# \t"), line.size()));
}

bool has_number(const std::string& line, char separator)
{
    if (separator == blanks_separate)
        return std::ranges::any_of(words_of(line),
                                   [](auto word) { return to_real(word).has_value(); });
    return std::ranges::any_of(split(line, separator), [](const auto& field) {
        return to_real(trimmed(field)).has_value();
    });
}

bool ends_with_separator(const std::string& line, char separator)
{
    const auto text = line.substr(0, line.find_last_not_of(' ') + 1);
    return text.ends_with(separator) && separator != blanks_separate;
}

// Whether all rows end with a separator, behind which there is no column: the header has no name
// for it.
// @param has_header  whether the first line is one
bool have_trailing_separator(const std::vector<std::string>& lines, bool has_header, char separator)
{
    const auto rows = std::span(lines).subspan(has_header ? 1 : 0);
    if (rows.empty() || !std::ranges::all_of(rows, [&](const auto& row) {
            return ends_with_separator(row, separator);
        }))
        return false;
    return !has_header || ends_with_separator(lines[0], separator) ||
           fields_in(lines[0], separator) + 1 == fields_in(rows[0], separator);
}

}  // namespace

Option separator_option()
{
    return {"separator", "auto|comma|semicolon|tab|bar|blanks", "auto",
            "what separates fields; auto: what the first lines have alike, and most of"};
}

std::size_t fields_in(std::string_view line, char separator)
{
    if (separator == blanks_separate) {
        bool quoted = false;
        std::string text(line);
        for (char& letter : text) {
            quoted ^= letter == '"';
            if (quoted) letter = 'x';
        }
        return words_of(text).size();
    }
    bool quoted = false;
    std::size_t count = 1;
    for (const char letter : line) {
        quoted ^= letter == '"';
        count += letter == separator && !quoted;
    }
    return count;
}

char guessed_separator(const std::vector<std::string>& lines, char without)
{
    if (lines.empty()) return ',';
    const auto alike = [&](char separator) {
        const auto count = fields_in(lines[0], separator);
        return count > 1 && std::ranges::all_of(lines, [&](const auto& line) {
                   return fields_in(line, separator) == count;
               });
    };
    std::pair<bool, std::size_t> best(false, 1);
    char guess = '\0';
    for (const char separator : separators) {
        const std::pair one(alike(separator), fields_in(lines[0], separator));
        if (separator == without || one <= best) continue;
        best = one;
        guess = separator;
    }
    if (guess != '\0') return guess;
    return alike(blanks_separate) ? blanks_separate : ',';
}

CsvDialect csv_dialect(const Settings& settings, const std::string& beginning,
                       const std::string& path)
{
    auto lines = first_lines(beginning);
    CsvDialect dialect;
    const auto told = told_separator(lines);
    if (told) {
        dialect.skipped = lines[0].number;
        lines.erase(lines.begin());
    }
    const auto first = std::ranges::find_if_not(lines, is_comment);
    const std::vector<Line> comments(lines.begin(), first);
    std::vector<std::string> rows;
    for (auto line = first; line != lines.end(); ++line)
        if (!is_comment(*line)) rows.push_back(line->text);
    if (!comments.empty()) dialect.skipped = comments.back().number;

    const bool decimal_comma = settings.one_of("decimal", {"point", "comma"}) == "comma";
    const auto& word =
        settings.one_of("separator", {"auto", "comma", "semicolon", "tab", "bar", "blanks"});
    dialect.separator = word == "comma"       ? ','
                        : word == "semicolon" ? ';'
                        : word == "tab"       ? '\t'
                        : word == "bar"       ? '|'
                        : word == "blanks"    ? blanks_separate
                        : told                ? *told
                                              : guessed_separator(rows, decimal_comma ? ',' : '\0');
    if (decimal_comma && dialect.separator == ',')
        settings.refuse("decimal", ", but commas separate the fields of " + path +
                                       ": name the --separator, or leave it out");
    if (rows.empty()) return dialect;

    const bool has_header = settings.one_of("header", {"yes", "no"}) == "yes";
    if (has_header && !comments.empty()) {
        const auto header = without_hash(comments.back().text);
        dialect.header_in_comment =
            fields_in(header, dialect.separator) == fields_in(rows[0], dialect.separator) &&
            fields_in(header, dialect.separator) > 1 && has_number(rows[0], dialect.separator) &&
            !has_number(header, dialect.separator);
        if (dialect.header_in_comment) dialect.skipped = comments.back().number - 1;
    }
    if (const auto left_out = std::ssize(comments) - (dialect.header_in_comment ? 1 : 0);
        left_out > 0)
        log(LogLevel::note,
            fmt::format("{}: {} lines with # before the table are left out", path, left_out));
    dialect.trailing =
        have_trailing_separator(rows, has_header && !dialect.header_in_comment, dialect.separator);
    if (dialect.trailing)
        log(LogLevel::note, path + ": every line ends with a separator, behind which no column is");
    return dialect;
}

bool begins_like_csv(std::string_view bytes)
{
    auto lines = first_lines(bytes);
    if (told_separator(lines)) return true;
    std::erase_if(lines, is_comment);
    if (lines.empty() || std::ranges::any_of(lines, is_libsvm, &Line::text)) return false;
    return lines[0].text.find_first_of(separators) != std::string::npos ||
           words_of(lines[0].text).size() > 1;
}

}  // namespace quorate
