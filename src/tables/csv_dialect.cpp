// SPDX-License-Identifier: BSD-2-Clause
// How a table of text is written.
#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "tables/csv.hpp"

namespace quorate {

namespace {

struct Separator {
    const char* word;
    char mark;
};
constexpr Separator separators[] = {
    {"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"bar", '|'}, {"blanks", blanks_separate}};
constexpr std::string_view guessed = ",;\t|";

struct Line {
    std::int64_t number;  // from 1
    std::string text;
};

// The first lines of a text that are not blank. A line goes on behind a line end inside quotes,
// unless it is a comment.
std::vector<Line> first_lines(std::string_view text)
{
    constexpr std::size_t most = 40;
    std::vector<Line> lines;
    std::int64_t number = 1;
    while (!text.empty() && lines.size() < most) {
        const auto first = number;
        bool quoted = false;
        std::size_t end = 0;
        for (; end < text.size() && (quoted || text[end] != '\n'); ++end) {
            quoted ^= text[end] == '"' && !text.starts_with('#');
            number += text[end] == '\n';
        }
        const auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (!trimmed(line).empty()) lines.push_back({first, std::string(line)});
    }
    return lines;
}

bool is_comment(const Line& line) { return line.text.starts_with('#'); }

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
    const auto words = fields_of(line.substr(0, line.find('#')), blanks_separate);
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

char separator_of(const Settings& settings, std::optional<char> told,
                  const std::vector<std::string>& rows, const std::string& path)
{
    const bool decimal_comma = settings.one_of("decimal", {"point", "comma"}) == "comma";
    const auto& word =
        settings.one_of("separator", {"auto", "comma", "semicolon", "tab", "bar", "blanks"});
    const auto* const named = std::ranges::find(separators, word, &Separator::word);
    const auto separator = named != std::end(separators) ? named->mark
                           : told                        ? *told
                                  : guessed_separator(rows, decimal_comma ? ',' : '\0');
    if (decimal_comma && separator == ',')
        settings.refuse("decimal", ", but commas separate the fields of " + path +
                                       ": name the --separator, or leave it out");
    return separator;
}

// Whether a comment names the columns of the first row, as numpy.savetxt writes it.
bool is_header(const std::string& comment, const std::string& row, char separator)
{
    const auto is_number = [](const auto& field) { return to_real(trimmed(field)).has_value(); };
    const auto names = fields_of(std::string_view(comment).substr(
                                     std::min(comment.find_first_not_of("# \t"), comment.size())),
                                 separator);
    const auto first = fields_of(row, separator);
    return names.size() == first.size() && names.size() > 1 &&
           std::ranges::any_of(first, is_number) && std::ranges::none_of(names, is_number);
}

// Whether all rows end with a separator, behind which there is no column: the header has no name
// for it.
// @param has_header  whether the first line is one
bool have_trailing_separator(const std::vector<std::string>& lines, bool has_header, char separator)
{
    const auto ends_with_it = [&](const std::string& line) {
        return line.substr(0, line.find_last_not_of(' ') + 1).ends_with(separator);
    };
    const auto rows = std::span(lines).subspan(has_header ? 1 : 0);
    if (rows.empty() || separator == blanks_separate || !std::ranges::all_of(rows, ends_with_it))
        return false;
    return !has_header || ends_with_it(lines[0]) ||
           fields_of(lines[0], separator).size() + 1 == fields_of(rows[0], separator).size();
}

}  // namespace

Option separator_option()
{
    return {"separator", "auto|comma|semicolon|tab|bar|blanks", "auto",
            "what separates fields; auto: what the first lines have alike, and most of"};
}

std::vector<std::string> fields_of(std::string_view line, char separator)
{
    const bool by_blanks = separator == blanks_separate;
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char letter : line) {
        quoted ^= letter == '"';
        if (!quoted && (letter == separator || (by_blanks && letter == '\t')))
            fields.emplace_back();
        else
            fields.back() += letter;
    }
    if (by_blanks) std::erase(fields, "");
    return fields;
}

char guessed_separator(const std::vector<std::string>& lines, char without)
{
    if (lines.empty()) return ',';
    const auto alike = [&](char separator) {
        const auto count = fields_of(lines[0], separator).size();
        return count > 1 && std::ranges::all_of(lines, [&](const auto& line) {
                   return fields_of(line, separator).size() == count;
               });
    };
    std::pair<bool, std::size_t> best(false, 1);
    char guess = '\0';
    for (const char separator : guessed) {
        const std::pair one(alike(separator), fields_of(lines[0], separator).size());
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
    dialect.separator = separator_of(settings, told, rows, path);
    if (rows.empty()) return dialect;

    const bool has_header = settings.one_of("header", {"yes", "no"}) == "yes";
    dialect.header_in_comment = has_header && !comments.empty() &&
                                is_header(comments.back().text, rows[0], dialect.separator);
    if (dialect.header_in_comment) --dialect.skipped;
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

bool begins_like_csv(std::string bytes)
{
    bool after_cr = false;
    if (bytes.starts_with("\xef\xbb\xbf")) bytes.erase(0, 3);
    end_lines_alike(bytes, 0, after_cr);
    auto lines = first_lines(bytes);
    if (told_separator(lines)) return true;
    std::erase_if(lines, is_comment);
    if (lines.empty() || std::ranges::any_of(lines, is_libsvm, &Line::text)) return false;
    return lines[0].text.find_first_of(guessed) != std::string::npos ||
           fields_of(lines[0].text, blanks_separate).size() > 1;
}

}  // namespace quorate
