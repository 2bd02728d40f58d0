// SPDX-License-Identifier: BSD-2-Clause
// LIBSVM (LIBLINEAR) text: "label index:value index:value ...", indices from 1 or 0, in any order;
// what follows a # is a comment. Zeros are dropped, and so is the query of a ranking, "qid:value".
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/index.hpp"
#include "base/log.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "tables/formats.hpp"
#include "tables/parallel_parse.hpp"

namespace quorate {

namespace {

constexpr std::string_view separators = " \t";

struct LibsvmLayout {
    explicit LibsvmLayout(const Settings& settings) : may_lack_labels(labels_are_optional(settings))
    {
        // Rows that are to be like those of a data set may have columns that it lacks.
        if (settings.on("columns") && (settings.given("columns") || !is_like(settings)))
            columns = settings.integer("columns", 1);
        const auto& first = settings.one_of("first-index", {"auto", "0", "1"});
        if (first != "auto") first_index = first == "0" ? 0 : 1;
        // A data set that was made of no LIBSVM text says nothing of where its indices began.
        else if (is_like(settings))
            first_index = 1;
    }

    std::int64_t columns = 0;                 // 0: as many as the indices have
    std::optional<std::int64_t> first_index;  // nothing: it is 0 if that index is there
    bool may_lack_labels;
};

struct Pair {
    std::int64_t index;
    double value;
    std::size_t place;  // in the line
};

struct LibsvmRows {
    std::int64_t largest = 0;
    bool from_zero = false,
         ranked = false;  // whether there is an index 0, and whether there are queries
    std::vector<std::size_t> start = {0};
    std::vector<std::int64_t> index;
    std::vector<double> value, label;
};

// Reads the rows of a block.
class Parser {
public:
    Parser(TextBlock block, const std::string& name, const LibsvmLayout& layout)
        : layout_(layout), lines_(std::move(block), name)
    {
    }

    LibsvmRows rows()
    {
        for (std::string line; lines_.next(line);) {
            text_ = std::string_view(line).substr(0, line.find('#'));
            at_ = text_.find_first_not_of(separators);
            if (at_ == std::string_view::npos) continue;
            rows_.label.push_back(label());
            entries();
            add_entries();
        }
        return std::move(rows_);
    }

private:
    std::string_view word() const
    {
        return text_.substr(at_,
                            std::min(text_.find_first_of(separators, at_), text_.size()) - at_);
    }
    void go_behind(std::string_view word)
    {
        at_ = text_.find_first_not_of(separators, at_ + word.size());
    }

    double label()
    {
        const auto first = word();
        // Rows to predict may begin with their first entry.
        if (layout_.may_lack_labels && first.find(':') != std::string_view::npos) return not_given;
        const auto label = to_real(first);
        if (!label) {
            const auto pieces = split(first, ',');
            const bool several =
                pieces.size() > 1 && std::ranges::all_of(pieces, [](const auto& piece) {
                    return to_real(piece).has_value();
                });
            lines_.refuse(
                at_ + 1,
                fmt::format("expected a label, a finite number, got '{}'{}", shown(first, 20),
                            several ? "; a row has one label: of rows with several, make a file "
                                      "for each of them"
                                    : ""));
        }
        go_behind(first);
        return *label;
    }

    void entries()
    {
        entries_.clear();
        for (; at_ != std::string_view::npos;) {
            const auto pair = word();
            const auto colon = pair.find(':');
            if (colon == std::string_view::npos) refuse_word(pair);
            if (pair.substr(0, colon) == "qid")
                rows_.ranked = true;
            else
                entries_.push_back(
                    {index_of(pair.substr(0, colon)), value_of(pair, colon + 1), at_});
            go_behind(pair);
        }
    }

    [[noreturn]] void refuse_word(std::string_view pair)
    {
        const bool are_sizes = lines_.number() == 1 &&
                               text_.find_first_not_of("0123456789 \t") == std::string_view::npos;
        lines_.refuse(at_ + 1,
                      fmt::format("expected index:value, got '{}'{}", shown(pair, 20),
                                  are_sizes ? "; if the first line holds sizes, delete it" : ""));
    }

    std::int64_t index_of(std::string_view text)
    {
        const auto index = to_integer(text);
        const auto least = layout_.first_index.value_or(0);
        if (!index || *index < least)
            lines_.refuse(
                at_ + 1,
                fmt::format("expected an index of at least {}, got '{}'{}", least, shown(text, 20),
                            index == 0 ? "; give --first-index 0 if indices count from 0" : ""));
        if (*index > std::numeric_limits<Index>::max())
            lines_.refuse(at_ + 1,
                          fmt::format("index {} is more than {}-bit indices can count: use a "
                                      "PETSc with 64-bit indices, or number the columns anew",
                                      *index, 8 * sizeof(Index)));
        if (layout_.columns > 0 && *index - layout_.first_index.value_or(1) >= layout_.columns)
            lines_.refuse(at_ + 1,
                          fmt::format("index {} is beyond --columns {}", *index, layout_.columns));
        return *index;
    }

    double value_of(std::string_view pair, std::size_t from)
    {
        const auto value = to_real(pair.substr(from));
        if (!value)
            lines_.refuse(
                at_ + from + 1,
                fmt::format("expected a finite number, got '{}'{}", shown(pair.substr(from), 20),
                            pair.find(':', from) == std::string_view::npos
                                ? ""
                                : "; field:index:value, as of libFFM, is not read"));
        return *value;
    }

    void add_entries()
    {
        if (!std::ranges::is_sorted(entries_, {}, &Pair::index))
            std::ranges::stable_sort(entries_, {}, &Pair::index);
        const auto twice = std::ranges::adjacent_find(entries_, {}, &Pair::index);
        if (twice != entries_.end())
            lines_.refuse(
                std::next(twice)->place + 1,
                fmt::format("index {} stands twice: give each index of a row once", twice->index));
        for (const auto& entry : entries_)
            if (entry.value != 0) {
                rows_.index.push_back(entry.index);
                rows_.value.push_back(entry.value);
            }
        if (!entries_.empty()) {
            rows_.from_zero |= entries_.front().index == 0;
            rows_.largest = std::max(rows_.largest, entries_.back().index);
        }
        rows_.start.push_back(rows_.index.size());
    }

    const LibsvmLayout& layout_;
    Lines lines_;
    LibsvmRows rows_;
    std::string_view text_;  // of the line, without its comment
    std::size_t at_ = 0;     // where its next word begins
    std::vector<Pair> entries_;
};

void read_libsvm(const Settings& settings, const std::string& path, const Reading& reading,
                 RawTable& table)
{
    const LibsvmLayout layout(settings);
    const auto before = table.rows();
    bool from_zero = layout.first_index == 0 || (before > 0 && table.first_column() == 0),
         ranked = false;
    TextBlocks blocks(path, reading, false);
    parse_blocks(
        blocks, [&](TextBlock block) { return Parser(std::move(block), path, layout).rows(); },
        [&](LibsvmRows rows) {
            table.index_end = std::max(table.index_end, rows.largest + 1);
            ranked |= rows.ranked;
            if (rows.from_zero && !from_zero)
                log(LogLevel::note, path + ": its indices count from 0 (--first-index 0)");
            from_zero |= rows.from_zero;
            for (std::size_t i = 0; i < rows.label.size(); ++i) {
                const auto first = rows.start[i], count = rows.start[i + 1] - first;
                if (!table.add(rows.label[i], {std::span(rows.index).subspan(first, count),
                                               std::span(rows.value).subspan(first, count)}))
                    return false;
            }
            return true;
        });
    if (table.rows() == before) throw BadInput(path + " holds no rows: give LIBSVM text");
    if (ranked)
        log(LogLevel::warning,
            path + ": qid: is left out, because rows are learnt one by one and not ranked");
    table.set_first_column(from_zero ? 0 : 1);
    table.columns = std::max(table.index_end - table.first_column(), layout.columns);
    if (layout.columns > 0 && table.columns > layout.columns)
        throw BadInput(fmt::format("{}: indices go from 0 to {}, beyond --columns {}", path,
                                   table.index_end - 1, layout.columns));
}

}  // namespace

Entry<Format> libsvm_entry()
{
    return {.name = "libsvm",
            .text = "LIBSVM or LIBLINEAR text: label index:value ..., indices from 1 or 0",
            .source = "Chang and Lin",
            .options = {{"columns", "N", "", "number of columns; default: the largest index"},
                        {"first-index", "auto|0|1", "auto",
                         "what indices count from; auto: 0 if there is an index 0, else 1"}},
            .make = {read_libsvm, [](const std::string&) { return true; }}};
}

}  // namespace quorate
