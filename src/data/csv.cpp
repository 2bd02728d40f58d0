// SPDX-License-Identifier: BSD-2-Clause
#include "data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace quorate {

char guessed_separator(std::string_view line)
{
    constexpr std::string_view known = ",;\t";
    std::int64_t count[known.size()] = {};
    bool quoted = false;
    for (const char letter : line) {
        if (letter == '"') quoted = !quoted;
        if (const auto at = known.find(letter); !quoted && at != std::string_view::npos)
            ++count[at];
    }
    return known[static_cast<std::size_t>(std::ranges::max_element(count) - count)];
}

CsvRecords::CsvRecords(std::istream& in, const std::string& name, char separator)
    : lines_(in, name), separator_(separator)
{
    if (!read(header_)) throw BadInput(name + " holds no header line: give CSV text");
}

bool CsvRecords::next(std::vector<std::string>& fields)
{
    if (!read(fields)) return false;
    if (fields.size() != header_.size())
        lines_.refuse(1, fmt::format("expected {} fields as in the header, got {}", header_.size(),
                                     fields.size()));
    return true;
}

void CsvRecords::refuse(std::size_t field, const std::string& wrong) const
{
    const auto& place = places_.at(field);
    throw BadInput(fmt::format("{}:{}:{}: {}", name(), place.line, place.column, wrong));
}

// Reads one record. A quoted field may go on in the next lines.
bool CsvRecords::read(std::vector<std::string>& fields)
{
    do {
        if (!lines_.next(text_)) return false;
    } while (text_.empty());
    fields.clear();
    places_.clear();
    line_ = lines_.number();
    for (std::size_t at = 0;;) {
        std::string field;
        places_.push_back({lines_.number(), at + 1});
        if (at < text_.size() && text_[at] == '"') {
            const auto opened = at++;
            for (;;) {
                if (at >= text_.size()) {
                    std::string more;
                    if (!lines_.next(more))
                        lines_.refuse(
                            opened + 1,
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
                    ++at;
                    break;
                }
            }
            if (at < text_.size() && text_[at] != separator_)
                lines_.refuse(at + 1, fmt::format("expected {} after the closing quote",
                                                  separator_ == ','   ? "a comma"
                                                  : separator_ == ';' ? "a semicolon"
                                                                      : "a tab"));
        } else {
            const auto end = std::min(text_.find(separator_, at), text_.size());
            field = text_.substr(at, end - at);
            if (const auto quote = field.find('"'); quote != std::string::npos)
                lines_.refuse(
                    at + quote + 1,
                    "a quote inside an unquoted field: quote the field and double the quote");
            if (const auto nul = field.find('\0'); nul != std::string::npos)
                lines_.refuse(at + nul + 1, "a zero byte: this is not text");
            at = end;
        }
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
