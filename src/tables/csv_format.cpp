// SPDX-License-Identifier: BSD-2-Clause
// Tables as text: values separated by commas, semicolons, tabs, bars or blanks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/quoted.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "tables/column_names.hpp"
#include "tables/csv.hpp"
#include "tables/formats.hpp"
#include "tables/label_map.hpp"
#include "tables/missing.hpp"
#include "tables/number_text.hpp"
#include "tables/parallel_parse.hpp"

namespace quorate {

namespace {

// A column of the file that the data set uses.
struct Use {
    std::size_t field;
    bool is_word;  // a category that is known by its text; otherwise a number
};

struct CsvLayout {
    explicit CsvLayout(const Settings& settings)
        : missing(settings), number_text(settings), may_lack_labels(is_like(settings))
    {
    }

    Missing missing;
    NumberText number_text;
    bool may_lack_labels;
    // What to do with a word where a number belongs.
    std::string remedy_for_words =
        "name the column in --categorical, or leave it out with --drop, if it is not one";
    CsvDialect dialect;
    bool has_header = false;
    std::vector<std::string> header;
    std::optional<std::size_t> label;
    bool label_is_word = false;
    bool by_value = false;
    std::vector<Use> uses;
    std::vector<RawTable::Column> columns;  // of the table, one for each use
};

// Numbers the columns of a file without header as if it had the label's, if it is the one column
// that it lacks of those that the data set was made of.
void number_without_label(std::vector<std::string>& header, const Settings& settings,
                          const std::vector<RawTable::Column>& like)
{
    const auto lacks = [&](const auto& column) {
        return std::ranges::find(header, column.name) == header.end();
    };
    const auto label = to_integer(settings.text("label")).value_or(0);
    if (label < 1 || label > std::ssize(header) || std::ranges::none_of(like, lacks)) return;
    for (auto i = static_cast<std::size_t>(label) - 1; i < header.size(); ++i)
        header[i] = std::to_string(i + 2);
}

std::optional<std::size_t> label_of(const std::vector<std::string>& header,
                                    const Settings& settings, const std::string& file)
{
    const auto& name = settings.text("label");
    const bool optional = labels_are_optional(settings);
    if (name.empty() && (optional || (settings.has("labels") && settings.on("labels"))))
        return std::nullopt;
    if (name.empty())
        throw BadInput("CSV needs --label COLUMN: the name of the column with the labels");
    if (optional && columns_called(header, name).empty()) return std::nullopt;
    return one_column(header, name, "label", file);
}

// Whether an option names a column by a number.
bool names_by_number(const Settings& settings)
{
    return std::ranges::any_of(
        std::array{"label", "use", "drop", "categorical"}, [&](const auto* option) {
            const auto pieces = split_quoted(settings.text(option), ',');
            return std::ranges::any_of(
                pieces, [](const auto& piece) { return to_integer(piece).has_value(); });
        });
}

// Doubts that the first line names the columns, unless --header says so.
// @param second  the line that follows
void check_first_line(const Settings& settings, const std::vector<std::string>& first,
                      const std::vector<std::string>& second, const NumberText& number_text,
                      const std::string& file)
{
    if (settings.given("header")) return;
    const auto is_number = [&](const std::string& cell) { return number_text(cell).has_value(); };
    const auto empty = [](const std::string& cell) { return trimmed(cell).empty(); };
    const auto numbers = std::ranges::count_if(first, is_number);
    if (numbers == 0) return;
    const auto& label = settings.text("label");
    const bool all = numbers + std::ranges::count_if(first, empty) == std::ssize(first);
    const bool unknown = !label.empty() && columns_called(first, label).empty() &&
                         columns_called(first, unquoted(label)).empty();
    const auto choice =
        "give --header no if it is a row, and columns by their numbers, or --header "
        "yes if it names them";
    if (all && (names_by_number(settings) || unknown))
        throw BadInput(
            fmt::format("the first line of {} is all numbers, {}: {}", file, shown(first), choice));
    if (unknown)
        throw BadInput(
            fmt::format("--label names {}, which the first line of {} does not hold; {}: it has {}",
                        shown(label), file, choice, shown(first)));
    const bool alike = first.size() == second.size() &&
                       std::ranges::equal(first, second, {}, is_number, is_number);
    if (all || (alike && to_integer(label)))
        log(LogLevel::warning,
            fmt::format("the first line of {}, {}, is taken for names, but looks like a row: {}",
                        file, shown(first), choice));
}

// Warns of columns without a name, which tools write to number the rows.
void warn_of_index_columns(const std::vector<std::string>& header, const CsvLayout& layout,
                           const std::string& file)
{
    std::map<std::string, std::vector<std::string>> places;  // by name
    for (const auto& use : layout.uses)
        if (const auto& name = header[use.field]; name.empty() || name.starts_with("Unnamed: "))
            places[name].push_back(std::to_string(use.field + 1));
    for (const auto& [name, columns] : places)
        log(LogLevel::warning,
            fmt::format("{} {}, as pandas writes the index of rows, for column {}, which is used: "
                        "to leave it out, give --drop \"{}\"",
                        file, name.empty() ? "has no name" : "has the name " + shown(name),
                        fmt::join(columns, " and column "), shown(name)));
}

// The columns that a data set was made of, in its order.
// @param made  that data set
void use_columns_of(const std::vector<RawTable::Column>& like, const std::string& made,
                    const std::string& file, CsvLayout& layout)
{
    const auto called = [](const std::string& name) {
        return name.empty() ? "without a name" : shown(name);
    };
    for (const auto& column : like) {
        const auto at = std::ranges::find(layout.header, column.name);
        if (at == layout.header.end()) {
            const auto several = columns_called(layout.header, column.name).size();
            throw BadInput(
                several > 0
                    ? fmt::format("{} has {} columns {}, but {} was made of one: give files of one "
                                  "form",
                                  file, several, called(column.name), made)
                    : fmt::format("{} has no column {}, which {} was made of: give files of one "
                                  "form",
                                  file, called(column.name), made));
        }
        layout.uses.push_back({static_cast<std::size_t>(at - layout.header.begin()),
                               column.categorical && !layout.by_value});
        layout.columns.push_back({column.name, column.categorical});
    }
}

// Chooses the columns that --use, --drop and --categorical say.
void use_columns(const Settings& settings, const std::string& file, CsvLayout& layout)
{
    const auto listed = [&](const char* option) {
        return columns_listed(layout.header, settings, option, file);
    };
    const auto used = listed("use"), dropped = listed("drop");
    const auto& kinds = settings.text("categorical");
    const bool all = kinds == "all";
    const auto categorical =
        all || kinds == "none" ? std::set<std::size_t>() : listed("categorical");
    for (std::size_t field = 0; field < layout.header.size(); ++field) {
        if (layout.label == field || dropped.contains(field)) continue;
        if (!used.empty() && !used.contains(field)) continue;
        const bool is_category = all || categorical.contains(field);
        layout.uses.push_back({field, is_category && !layout.by_value});
        layout.columns.push_back({layout.header[field], is_category});
    }
    if (layout.uses.empty())
        throw BadInput(file + " has no columns beside the labels, with --use and --drop: use some");
}

// @param like  columns of the data set that --like names, or of the training file, if any
CsvLayout layout_of(const Settings& settings, const std::string& file,
                    const std::vector<RawTable::Column>& like)
{
    CsvLayout layout(settings);
    const bool by_name = is_like(settings) && !like.empty();
    // The header is read from the first block, whose length is bounded whatever the file is.
    TextBlock beginning;
    const Reading reading;
    TextBlocks(file, reading, true).next(beginning);
    layout.dialect = csv_dialect(settings, beginning.text, file);
    CsvRecords records(std::move(beginning), file, layout.dialect);
    const auto header = records.header();
    auto first = header;
    layout.has_header = settings.one_of("header", {"yes", "no"}) == "yes";
    if (layout.has_header) {
        records.next(first);
        if (like.empty()) check_first_line(settings, header, first, layout.number_text, file);
        layout.header = unique_names(header, file);
    } else {
        for (std::size_t i = 0; i < header.size(); ++i)
            layout.header.push_back(std::to_string(i + 1));
    }
    if (by_name && !layout.has_header) number_without_label(layout.header, settings, like);
    layout.label = label_of(layout.header, settings, file);
    if (layout.label) {
        const auto unknown = [&](const std::string& cell) {
            return is_missing(cell) ||
                   layout.missing.names(trimmed(cell), layout.number_text(cell));
        };
        while (unknown(first[*layout.label]) && records.next(first)) {
        }
        const auto& label = first[*layout.label];
        const auto number = layout.number_text(label);
        layout.label_is_word =
            labels_are_words(settings, number ? fmt::format("{}", *number) : trimmed(label));
    }
    layout.by_value = settings.one_of("categorical-by", {"text", "value"}) == "value";
    if (by_name) {
        const auto& made = settings.text("like");
        use_columns_of(like, made, file, layout);
        layout.remedy_for_words = made + " has numbers there";
        return layout;
    }
    use_columns(settings, file, layout);
    if (like.empty() && layout.has_header) {
        if (const auto made = words_of_made_names(header, layout.header, file); !made.empty())
            log(LogLevel::warning, made);
        warn_of_index_columns(header, layout, file);
    }
    return layout;
}

struct CsvRow {
    double label = not_given;
    std::string label_word;
    bool unlabelled = false, incomplete = false;  // incomplete: it is to be left out
};

struct CsvRows {
    std::vector<CsvRow> row;
    std::vector<double> number;     // of each row, in the order of uses; NaN: missing
    std::vector<std::string> word;  // likewise
    std::vector<bool> met;          // whether a cell is that one of --missing-values
};

// Reads the rows of a piece of a file.
class CsvParser {
public:
    CsvParser(TextBlock block, const std::string& name, const CsvLayout& layout)
        : layout_(layout), begins_with_header_(layout.has_header && block.first_line == 1),
          records_(std::move(block), name, layout.header, layout.dialect)
    {
    }

    CsvRows parse()
    {
        rows_.met.resize(layout_.missing.named_values());
        if (begins_with_header_) records_.next(fields_);
        while (records_.next(fields_)) {
            auto& row = rows_.row.emplace_back();
            row.unlabelled = !layout_.label;
            if (layout_.label) read_label(*layout_.label, row);
            for (std::size_t i = 0; i < layout_.uses.size(); ++i) {
                const auto& use = layout_.uses[i];
                if (use.is_word)
                    rows_.word.push_back(word(use.field));
                else
                    rows_.number.push_back(number(use.field, layout_.columns[i].categorical));
            }
        }
        return std::move(rows_);
    }

private:
    [[noreturn]] void refuse_number(std::size_t field, const char* what, const std::string& remedy)
    {
        const auto& marks = layout_.number_text.remedy(fields_[field]);
        records_.refuse(
            field, fmt::format("column {}: expected {}, got '{}'; {}", shown(layout_.header[field]),
                               what, shown(fields_[field], 20), marks.empty() ? remedy : marks));
    }

    // Whether a cell is missing. Then its row is left out, unless something may take its place.
    bool missing(std::size_t field, bool is_missing, bool replaced, const char* by)
    {
        if (!is_missing) return false;
        if (!replaced && !layout_.missing.drop())
            records_.refuse(field, fmt::format("column {}: the value is missing, '{}'; {}",
                                               shown(layout_.header[field]), shown(fields_[field]),
                                               layout_.missing.remedy(by)));
        rows_.row.back().incomplete |= !replaced;
        return true;
    }

    // Whether a cell is one of --missing-values. @param number  it as a number, if it is one
    bool named(std::size_t field, const std::optional<double>& number = {})
    {
        if (rows_.met.empty()) return false;
        const auto at = layout_.missing.named(trimmed(fields_[field]), number);
        if (at) rows_.met[*at] = true;
        return at.has_value();
    }

    void read_label(std::size_t field, CsvRow& row)
    {
        const auto& text = fields_[field];
        const auto value = layout_.label_is_word ? std::nullopt : layout_.number_text(text);
        if (missing(field, is_missing(text) || named(field, value), layout_.may_lack_labels, ""))
            row.unlabelled = true;
        else if (layout_.label_is_word)
            row.label_word = trimmed(text);
        else if (value)
            row.label = *value;
        else
            refuse_number(field, "a label, a finite number",
                          "to take labels as words, name one in --label-map");
    }

    // NaN: it is missing.
    double number(std::size_t field, bool categorical)
    {
        const auto& text = fields_[field];
        auto value = layout_.number_text(text);
        if (missing(field, is_missing_number(text) || named(field, value),
                    categorical ? layout_.missing.category() : layout_.missing.mean(),
                    categorical ? "category" : "mean"))
            return not_given;
        if (!value) value = to_truth(text);
        if (!value) refuse_number(field, "a finite number", layout_.remedy_for_words);
        return *value;
    }

    std::string word(std::size_t field)
    {
        auto text = trimmed(fields_[field]);
        const bool gone = missing(field, is_missing(text) || named(field),
                                  layout_.missing.category(), "category");
        return gone ? missing_level : text;
    }

    const CsvLayout& layout_;
    bool begins_with_header_;
    CsvRecords records_;
    CsvRows rows_;
    std::vector<std::string> fields_;
};

// Adds parsed rows, and numbers the categories in the order of the file.
bool add(const CsvRows& rows, const CsvLayout& layout, RawTable& table)
{
    std::vector<double> values(layout.uses.size());
    auto number = rows.number.begin();
    auto word = rows.word.begin();
    for (const auto& row : rows.row) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            auto& column = table.column[i];
            auto& levels = column.levels;
            const auto* text = layout.uses[i].is_word ? &*word++ : nullptr;
            const double value = text ? 0 : *number++;
            // The categories of rows that are left out are none of the data set.
            if (row.incomplete || (!text && !column.categorical))
                values[i] = value;
            else if (text || std::isnan(value))
                values[i] = levels.number(text ? *text : missing_level);
            else
                values[i] = levels.number(value);
        }
        const double label = row.unlabelled || row.incomplete ? not_given
                             : layout.label_is_word ? table.label_words.number(row.label_word)
                                                    : row.label;
        if (!table.add(label, {{}, values})) return false;
        if (row.incomplete) table.leave_out_last();
    }
    return true;
}

// Test rows have the columns of the training rows, in their order.
void check_columns(const std::vector<RawTable::Column>& training,
                   const std::vector<RawTable::Column>& test, const std::string& path)
{
    const auto theirs = names(training), here = names(test);
    if (theirs == here) return;
    const auto at =
        static_cast<std::size_t>(std::ranges::mismatch(theirs, here).in1 - theirs.begin());
    const auto called = [&](const auto& columns) {
        return at < columns.size() ? "'" + shown(columns[at]) + "'" : "nothing";
    };
    throw BadInput(
        fmt::format("{} has other columns than the training file, which has {} where it "
                    "has {}: give files of one form",
                    path, called(theirs), called(here)));
}

void read_csv(const Settings& settings, const std::string& path, const Reading& reading,
              RawTable& table)
{
    const auto layout = layout_of(settings, path, table.column);
    const bool first = table.column.empty();  // else test rows, or rows like those of a data set
    const auto before = table.rows();
    table.columns = static_cast<std::int64_t>(layout.columns.size());
    if (table.column.empty()) {
        table.column = layout.columns;
    } else {
        check_columns(table.column, layout.columns, path);
    }
    if (layout.label) table.set_label_kind(layout.label_is_word, path);
    std::vector<bool> met(layout.missing.named_values());
    TextBlocks blocks(path, reading, true);
    parse_blocks(
        blocks, [&](TextBlock block) { return CsvParser(std::move(block), path, layout).parse(); },
        [&](const CsvRows& rows) {
            for (std::size_t i = 0; i < met.size(); ++i) met[i] = met[i] || rows.met[i];
            return add(rows, layout, table);
        });
    if (first) layout.missing.warn_of_unmet(met, path);
    if (table.rows() == before)
        throw BadInput(path + " holds no rows after its header: give CSV text");
}

}  // namespace

Entry<Format> csv_entry()
{
    std::vector<Option> options = {
        label_option(),
        {"header", "yes|no", "yes",
         "whether the first line names the columns; else they are 1, 2, ..."},
        separator_option()};
    add_options(options, Missing::options());
    add_options(options, NumberText::options());
    add_options(options,
                {{"use", "A,B..C", "",
                  "columns to use, by names and ranges; a name with commas or two dots stands in "
                  "double quotes, as in CSV; default: all"},
                 {"drop", "A,B..C", "",
                  "columns not to use, likewise; an empty text: those without a name"},
                 {"categorical", "all|none|A,B..C", "none",
                  "columns to encode as one column for each value, named as in --use"},
                 {"categorical-by", "text|value", "text",
                  "what tells categories apart: how they are written, or their numbers"},
                 {"interactions", "1|2", "1",
                  "2: also a column for each pair of values of categorical columns"},
                 {"exclude-pairs", "A*B,C*D", "",
                  "pairs of columns without interaction, named as in --use"}});
    return {.name = "csv",
            .text = "values separated by commas, semicolons, tabs, bars or blanks; quoted fields",
            .source = "RFC 4180",
            .options = std::move(options),
            .make = {read_csv, begins_like_csv}};
}

}  // namespace quorate
