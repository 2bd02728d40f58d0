// SPDX-License-Identifier: BSD-2-Clause
// LIBSVM (LIBLINEAR) text: "label index:value index:value ...", indices from 1, ascending; what
// follows a # is a comment. Zeros are dropped.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "base/index.hpp"
#include "base/text.hpp"
#include "data/formats.hpp"
#include "data/parallel_parse.hpp"

namespace quorate {

namespace {

// Shortens a text for a message, and shows bytes that are not text as question marks.
std::string shown(std::string_view word)
{
    std::string text;
    for (const char letter : word.substr(0, 20))
        text += letter >= ' ' && letter <= '~' ? letter : '?';
    return word.size() > 20 ? text + "..." : text;
}

constexpr std::string_view blanks = " \t";

struct Rows {
    std::int64_t columns = 0;  // the largest index
    std::vector<std::size_t> start = {0};
    std::vector<std::int64_t> column;
    std::vector<double> value, label;
};

/// @param columns  0: as many as the largest index
Rows parse(TextBlock block, const std::string& name, std::int64_t columns, bool may_lack_labels)
{
    Rows rows;
    std::istringstream in(std::move(block.text));
    Lines lines(in, name, block.first_line - 1);
    for (std::string line; lines.next(line);) {
        const std::string_view all = std::string_view(line).substr(0, line.find('#'));
        std::size_t at = all.find_first_not_of(blanks);
        if (at == std::string_view::npos) continue;
        const auto word = [&] {
            const auto end = std::min(all.find_first_of(blanks, at), all.size());
            return all.substr(at, end - at);
        };
        // Rows to predict may begin with their first entry.
        const bool unlabelled = may_lack_labels && word().find(':') != std::string_view::npos;
        const auto first = unlabelled ? std::string_view() : word();
        const auto label = unlabelled ? std::numeric_limits<double>::quiet_NaN() : to_real(first);
        if (!label)
            lines.refuse(at + 1,
                         fmt::format("expected a label, a finite number, got '{}'", shown(first)));
        rows.label.push_back(*label);
        std::int64_t last = 0;
        for (at = all.find_first_not_of(blanks, at + first.size()); at != std::string_view::npos;) {
            const auto pair = word();
            const auto colon = pair.find(':');
            if (colon == std::string_view::npos)
                lines.refuse(at + 1, fmt::format("expected index:value, got '{}'", shown(pair)));
            const auto index = to_integer(pair.substr(0, colon));
            if (!index || *index < 1)
                lines.refuse(at + 1, fmt::format("expected an index of at least 1, got '{}'",
                                                 shown(pair.substr(0, colon))));
            if (*index > std::numeric_limits<Index>::max())
                lines.refuse(at + 1,
                             fmt::format("index {} is more than {}-bit indices can count: use a "
                                         "PETSc with 64-bit indices, or number the columns anew",
                                         *index, 8 * sizeof(Index)));
            if (*index <= last)
                lines.refuse(at + 1,
                             fmt::format("index {} does not ascend: it follows {}", *index, last));
            if (columns > 0 && *index > columns)
                lines.refuse(at + 1,
                             fmt::format("index {} is beyond --columns {}", *index, columns));
            const auto value = to_real(pair.substr(colon + 1));
            if (!value)
                lines.refuse(at + colon + 2, fmt::format("expected a finite number, got '{}'",
                                                         shown(pair.substr(colon + 1))));
            if (*value != 0) {
                rows.column.push_back(*index - 1);
                rows.value.push_back(*value);
            }
            last = *index;
            at = all.find_first_not_of(blanks, at + pair.size());
        }
        rows.columns = std::max(rows.columns, last);
        rows.start.push_back(rows.column.size());
    }
    return rows;
}

void read(const Settings& settings, const std::string& path, const Reading& reading,
          RawTable& table)
{
    const auto columns = settings.on("columns") ? settings.integer("columns", 1) : 0;
    const auto before = table.rows();
    table.columns = std::max(table.columns, columns);
    TextBlocks blocks(path, reading, false);
    parse_blocks(
        blocks,
        [&](TextBlock block) {
            return parse(std::move(block), path, columns, labels_are_optional(settings));
        },
        [&](Rows rows) {
            table.columns = std::max(table.columns, rows.columns);
            for (std::size_t i = 0; i < rows.label.size(); ++i) {
                const auto first = rows.start[i], count = rows.start[i + 1] - first;
                if (!table.add(rows.label[i], {std::span(rows.column).subspan(first, count),
                                               std::span(rows.value).subspan(first, count)}))
                    return false;
            }
            return true;
        });
    if (table.rows() == before) throw BadInput(path + " holds no rows: give LIBSVM text");
}

}  // namespace

Entry<Format> libsvm_entry()
{
    return {.name = "libsvm",
            .text = "LIBSVM or LIBLINEAR text: label index:value ..., indices from 1",
            .source = "Chang and Lin",
            .options = {{"columns", "N", "", "number of columns; default: the largest index"}},
            .make = {read, [](const std::string&) { return true; }}};
}

}  // namespace quorate
