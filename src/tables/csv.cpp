// SPDX-License-Identifier: BSD-2-Clause
#include "tables/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"

namespace quorate {

namespace {

std::string name_of(char separator)
{
    if (separator == '\t') return "a tab";
    return separator == blanks_separate ? "a blank" : fmt::format("'{}'", shown({&separator, 1}));
}

}  // namespace

CsvRecords::CsvRecords(TextBlock text, const std::string& name, const CsvDialect& dialect)
    : CsvRecords(std::move(text), name, {}, dialect)
{
    if (!read(header_)) throw BadInput(name + " holds no header line: give CSV text");
    for (auto& one : header_) one = trimmed(one);
    if (dialect_.trailing && header_.back().empty()) header_.pop_back();
}

bool CsvRecords::next(std::vector<std::string>& fields)
{
    if (!read(fields)) return false;
    if (dialect_.trailing && fields.size() == header_.size() + 1 && trimmed(fields.back()).empty())
        fields.pop_back();
    if (fields.size() != header_.size()) {
        const auto* cause = header_.back().empty() ? "; the last name of the header is empty"
                            : trimmed(fields.back()).empty() ? "; the last one is empty"
                                                             : "";
        lines_.refuse(1, fmt::format("expected {} fields as in the header, got {}{}",
                                     header_.size(), fields.size(), cause));
    }
    return true;
}

void CsvRecords::refuse(std::size_t field, const std::string& wrong) const
{
    const auto& place = places_.at(field);
    throw BadInput(fmt::format("{}:{}:{}: {}", name(), place.line, place.column, wrong));
}

// Goes on to the next line that belongs to the table.
bool CsvRecords::next_line()
{
    const auto belongs = [&] {
        if (lines_.number() <= dialect_.skipped) return false;
        const auto first = skip_blanks(0);
        if (first == text_.size()) return false;
        return text_[first] != '#' || header_.size() < 2 ||
               fields_of(text_, dialect_.separator).size() > 1;
    };
    do {
        if (!lines_.next(text_)) return false;
    } while (!belongs());
    if (std::exchange(strip_hash_, false)) text_.erase(0, text_.find_first_not_of("# \t"));
    return true;
}

// Returns where what is no blank begins. A separator is none.
std::size_t CsvRecords::skip_blanks(std::size_t at) const
{
    const auto* blanks = dialect_.separator == '\t' ? " " : " \t";
    return std::min(text_.find_first_not_of(blanks, at), text_.size());
}

// Reads a quoted field, which may go on in the next lines. @return where its separator is
std::size_t CsvRecords::quoted(std::size_t at, std::string& field)
{
    const auto opened = at++;
    for (;;) {
        if (at >= text_.size()) {
            std::string more;
            if (!lines_.next(more))
                lines_.refuse(opened + 1,
                              fmt::format("a quote opened in line {} is not closed", line_));
            field += '\n';
            text_ = std::move(more);
            at = 0;
        } else if (text_[at] != '"') {
            field += text_[at++];
        } else if (at + 1 < text_.size() && text_[at + 1] == '"') {
            field += '"';
            at += 2;
        } else {
            break;
        }
    }
    const auto end = ++at;
    at = skip_blanks(end);
    if (at == text_.size()) return at;
    const bool by_blanks = dialect_.separator == blanks_separate;
    if (by_blanks ? at == end : text_[at] != dialect_.separator)
        lines_.refuse(end + 1, fmt::format("expected {} after the closing quote",
                                           name_of(dialect_.separator)));
    return by_blanks ? at - 1 : at;
}

// Reads any other field, likewise.
std::size_t CsvRecords::unquoted(std::size_t at, std::string& field) const
{
    const bool by_blanks = dialect_.separator == blanks_separate;
    const auto end =
        std::min(by_blanks ? text_.find_first_of(" \t", at) : text_.find(dialect_.separator, at),
                 text_.size());
    field = text_.substr(at, end - at);
    if (const auto quote = field.find('"'); quote != std::string::npos)
        lines_.refuse(at + quote + 1,
                      "a quote inside an unquoted field: quote the field and double the quote");
    if (const auto nul = field.find('\0'); nul != std::string::npos)
        lines_.refuse(at + nul + 1, "a zero byte: this is not text");
    if (!by_blanks) return end;
    const auto next = skip_blanks(end);
    return next == text_.size() ? next : next - 1;
}

// Reads one record.
bool CsvRecords::read(std::vector<std::string>& fields)
{
    if (!next_line()) return false;
    fields.clear();
    places_.clear();
    line_ = lines_.number();
    auto at = dialect_.separator == blanks_separate ? skip_blanks(0) : 0;
    for (;;) {
        std::string field;
        const auto first = skip_blanks(at);
        const bool is_quoted = first < text_.size() && text_[first] == '"';
        places_.push_back({lines_.number(), (is_quoted ? first : at) + 1});
        at = is_quoted ? quoted(first, field) : unquoted(at, field);
        fields.push_back(std::move(field));
        if (at >= text_.size()) return true;
        ++at;  // the separator
        if (at == text_.size()) {
            places_.push_back({lines_.number(), at + 1});
            fields.emplace_back();
            return true;
        }
    }
}

}  // namespace quorate
