// SPDX-License-Identifier: BSD-2-Clause
#include "data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/formats.hpp"
#include "data/parallel_parse.hpp"

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

namespace {

// A column of the file that the data set uses.
struct Use {
    std::size_t field;
    bool is_word;  // a category that is known by its text; otherwise a number
};

struct Layout {
    bool has_header;
    std::vector<std::string> header;
    std::size_t label;
    bool by_value;
    std::vector<Use> uses;
    std::vector<RawTable::Column> columns;  // of the table, one for each use
};

std::size_t field_of(const std::vector<std::string>& header, const std::string& name,
                     const std::string& option, const std::string& file)
{
    const auto at = std::ranges::find(header, name);
    if (at == header.end())
        throw BadInput(fmt::format("--{} names {}, which is not a column of {}{}", option, name,
                                   file, suggestion(name, header)));
    return static_cast<std::size_t>(at - header.begin());
}

// Returns the fields that a list of names and ranges A..B names.
std::set<std::size_t> fields_of(const std::vector<std::string>& header, const Settings& settings,
                                const std::string& option, const std::string& file)
{
    std::set<std::size_t> fields;
    if (!settings.on(option)) return fields;
    for (const auto& word : split(settings.text(option), ',')) {
        const auto name = trimmed(word);
        const auto dots = name.find("..");
        const auto first = field_of(header, trimmed(name.substr(0, dots)), option, file);
        const auto last = dots == std::string::npos
                              ? first
                              : field_of(header, trimmed(name.substr(dots + 2)), option, file);
        if (last < first) settings.refuse(option, ", but the range " + name + " is empty");
        for (auto field = first; field <= last; ++field) fields.insert(field);
    }
    return fields;
}

Layout layout_of(const Settings& settings, const std::string& file)
{
    Layout layout;
    // The header is read from the first block, whose length is bounded whatever the file is.
    TextBlock beginning;
    TextBlocks(file, {}, true).next(beginning);
    std::istringstream in(beginning.text);
    layout.header = CsvRecords(in, file).header();
    layout.has_header = settings.one_of("header", {"yes", "no"}) == "yes";
    if (!layout.has_header)
        for (std::size_t i = 0; i < layout.header.size(); ++i)
            layout.header[i] = std::to_string(i + 1);
    const auto& label = settings.text("label");
    if (label.empty())
        throw BadInput("CSV needs --label COLUMN: the name of the column with the labels");
    layout.label = field_of(layout.header, label, "label", file);
    layout.by_value = settings.one_of("categorical-by", {"text", "value"}) == "value";
    const auto used = fields_of(layout.header, settings, "use", file),
               dropped = fields_of(layout.header, settings, "drop", file);
    const auto& kinds = settings.text("categorical");
    const bool all = kinds == "all";
    const auto categorical = all || kinds == "none"
                                 ? std::set<std::size_t>()
                                 : fields_of(layout.header, settings, "categorical", file);
    for (std::size_t field = 0; field < layout.header.size(); ++field) {
        if (field == layout.label || dropped.contains(field)) continue;
        if (!used.empty() && !used.contains(field)) continue;
        const bool is_category = all || categorical.contains(field);
        layout.uses.push_back({field, is_category && !layout.by_value});
        layout.columns.push_back({layout.header[field], is_category});
    }
    if (layout.uses.empty())
        throw BadInput(file + " has no columns beside the labels, with --use and --drop: use some");
    return layout;
}

struct Rows {
    std::vector<double> label, number;  // numbers: of each row, in the order of uses
    std::vector<std::string> word;      // likewise
};

Rows parse(TextBlock block, const std::string& name, const Layout& layout)
{
    const bool has_header = layout.has_header && block.first_line == 1;
    std::istringstream in(std::move(block.text));
    CsvRecords records(in, name, layout.header, block.first_line - 1);
    Rows rows;
    std::vector<std::string> fields;
    if (has_header) records.next(fields);
    const auto number = [&](std::size_t field, const char* what, const char* remedy) {
        const auto value = to_real(trimmed(fields[field]));
        if (!value)
            records.refuse(field,
                           fmt::format("column {}: expected {}, got '{}'; {}", layout.header[field],
                                       what, fields[field].substr(0, 20), remedy));
        return *value;
    };
    while (records.next(fields)) {
        rows.label.push_back(
            number(layout.label, "a label, a finite number", "write classes as numbers"));
        for (const auto& use : layout.uses)
            if (use.is_word)
                rows.word.push_back(std::move(fields[use.field]));
            else
                rows.number.push_back(number(use.field, "a finite number",
                                             "name the column in --categorical if it is not one"));
    }
    return rows;
}

// Adds parsed rows, and numbers the categories in the order of the file.
bool add(const Rows& rows, const Layout& layout, RawTable& table)
{
    std::vector<double> values(layout.uses.size());
    auto number = rows.number.begin();
    auto word = rows.word.begin();
    for (const double label : rows.label) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            auto& column = table.column[i];
            if (layout.uses[i].is_word)
                values[i] = column.levels.number(*word++);
            else
                values[i] = column.categorical ? column.levels.number(*number++) : *number++;
        }
        if (!table.add(label, {{}, values})) return false;
    }
    return true;
}

void read(const Settings& settings, const std::string& path, const Reading& reading,
          RawTable& table)
{
    const auto layout = layout_of(settings, path);
    const auto before = table.rows();
    if (table.column.empty()) {
        table.column = layout.columns;
        table.columns = static_cast<std::int64_t>(layout.columns.size());
    } else if (!std::ranges::equal(table.column, layout.columns, {}, &RawTable::Column::name,
                                   &RawTable::Column::name)) {
        throw BadInput(path + " has other columns than the training file: give files of one form");
    }
    TextBlocks blocks(path, reading, true);
    parse_blocks(
        blocks, [&](TextBlock block) { return parse(std::move(block), path, layout); },
        [&](const Rows& rows) { return add(rows, layout, table); });
    if (table.rows() == before)
        throw BadInput(path + " holds no rows after its header: give CSV text");
}

bool begins(const std::string& bytes)
{
    return bytes.substr(0, bytes.find('\n')).find(',') != std::string::npos;
}

}  // namespace

Entry<Format> csv_entry()
{
    return {.name = "csv",
            .text = "comma-separated values; quoted fields",
            .source = "RFC 4180",
            .options = {{"label", "COLUMN|ARRAY", "", "the column or HDF5 array with the labels"},
                        {"header", "yes|no", "yes",
                         "whether the first line names the columns; else they are 1, 2, ..."},
                        {"use", "A,B..C", "", "columns to use, by names and ranges; default: all"},
                        {"drop", "A,B..C", "", "columns not to use"},
                        {"categorical", "all|none|A,B..C", "none",
                         "columns to encode as one column for each value"},
                        {"categorical-by", "text|value", "text",
                         "what tells categories apart: how they are written, or their numbers"},
                        {"interactions", "1|2", "1",
                         "2: also a column for each pair of values of categorical columns"},
                        {"exclude-pairs", "A*B,C*D", "", "pairs of columns without interaction"}},
            .make = {read, begins}};
}

}  // namespace quorate
