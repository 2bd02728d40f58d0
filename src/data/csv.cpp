// SPDX-License-Identifier: BSD-2-Clause
#include "data/csv.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/encode.hpp"
#include "data/formats.hpp"
#include "data/source.hpp"

namespace quorate {

CsvRecords::CsvRecords(std::istream& in, const std::string& name) : lines_(in, name)
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

// A quoted field may go on in the next lines.
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
            if (at < text_.size() && text_[at] != ',')
                lines_.refuse(at + 1, "expected a comma after the closing quote");
        } else {
            const auto end = std::min(text_.find(',', at), text_.size());
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
        ++at;  // the comma
        if (at == text_.size()) {
            places_.push_back({lines_.number(), at + 1});
            fields.emplace_back();
            return true;
        }
    }
}

void CsvTable::append(const CsvTable& more, const std::string& name)
{
    if (more.header != header)
        throw BadInput(name + " has other columns than the training file: give files of one form");
    cells.insert(cells.end(), more.cells.begin(), more.cells.end());
}

CsvTable read_csv(std::istream& in, const std::string& name)
{
    CsvTable table;
    CsvRecords records(in, name);
    table.header = records.header();
    for (std::vector<std::string> fields; records.next(fields);)
        for (auto& field : fields) table.cells.push_back(std::move(field));
    if (table.rows() == 0) throw BadInput(name + " holds no rows after its header: give CSV text");
    return table;
}

namespace {

Imported read(const Settings& settings)
{
    Encoding encoding;
    encoding.label = settings.text("label");
    if (encoding.label.empty())
        throw BadInput("CSV needs --label COLUMN: the name of the column with the labels");
    const auto& categorical = settings.text("categorical");
    encoding.all_categorical = categorical == "all";
    if (!encoding.all_categorical && categorical != "none")
        encoding.categorical = split(categorical, ',');
    encoding.pairs = settings.integer("interactions", 1, 2) == 2;
    if (settings.on("exclude-pairs"))
        for (const auto& pair : split(settings.text("exclude-pairs"), ',')) {
            const auto ends = split(pair, '*');
            if (ends.size() != 2)
                settings.refuse("exclude-pairs", ": write pairs A*B, separated by commas");
            encoding.excluded_pairs.emplace_back(trimmed(ends[0]), trimmed(ends[1]));
        }
    encoding.intercept = settings.on("intercept");

    const auto file = [&](const std::string& option) {
        const auto& path = settings.text(option);
        return read_csv(*open_source(path), path);
    };
    auto table = file("input");
    std::int64_t test_rows = 0;
    if (settings.on("test-input")) {
        const auto test = file("test-input");
        test_rows = static_cast<std::int64_t>(test.rows());
        table.append(test, settings.text("test-input"));
    }
    return {encode(table, encoding, settings.text("input")), test_rows};
}

}  // namespace

Entry<ReadFormat> csv_entry()
{
    return {.name = "csv",
            .arguments = "",
            .text = "comma-separated values with a header line; quoted fields",
            .source = "RFC 4180",
            .options = {{"label", "COLUMN", "", "the column with the labels"},
                        {"categorical", "all|none|A,B", "none",
                         "columns to encode as one column for each value"},
                        {"interactions", "1|2", "1",
                         "2: also a column for each pair of values of categorical columns"},
                        {"exclude-pairs", "A*B,C*D", "", "pairs of columns without interaction"},
                        {"intercept", "", "", "a last column of ones"}},
            .make = read};
}

}  // namespace quorate
