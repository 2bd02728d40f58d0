// SPDX-License-Identifier: BSD-2-Clause
#include "data/libsvm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "data/formats.hpp"
#include "data/source.hpp"

namespace quorate {

namespace {

// What a message shows of the text it is about: binary noise and long words are cut.
std::string shown(std::string_view word)
{
    std::string text;
    for (const char letter : word.substr(0, 20))
        text += letter >= ' ' && letter <= '~' ? letter : '?';
    return word.size() > 20 ? text + "..." : text;
}

constexpr std::string_view blanks = " \t";

}  // namespace

Examples read_libsvm(std::istream& in, const std::string& name, std::int64_t columns)
{
    Examples examples;
    std::int64_t largest = 0;
    Lines lines(in, name);
    for (std::string line; lines.next(line);) {
        const std::string_view all = std::string_view(line).substr(0, line.find('#'));
        std::size_t at = all.find_first_not_of(blanks);
        if (at == std::string_view::npos) continue;
        const auto word = [&] {
            const auto end = std::min(all.find_first_of(blanks, at), all.size());
            return all.substr(at, end - at);
        };
        const auto first = word();
        const auto label = to_real(first);
        if (!label)
            lines.refuse(at + 1,
                         fmt::format("expected a label, a finite number, got '{}'", shown(first)));
        examples.label.push_back(*label);
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
                examples.column.push_back(*index - 1);
                examples.value.push_back(*value);
            }
            last = *index;
            at = all.find_first_not_of(blanks, at + pair.size());
        }
        largest = std::max(largest, last);
        examples.start.push_back(static_cast<std::int64_t>(examples.column.size()));
    }
    if (examples.rows() == 0) throw BadInput(name + " holds no rows: give LIBSVM text");
    examples.columns = columns > 0 ? columns : largest;
    return examples;
}

namespace {

Imported read(const Settings& settings)
{
    const auto width = settings.on("columns") ? settings.integer("columns", 1) : 0;
    const auto file = [&](const std::string& option) {
        const auto& path = settings.text(option);
        return read_libsvm(*open_source(path), path, width);
    };
    Imported all{file("input"), 0};
    if (!settings.on("test-input")) return all;
    const auto test = file("test-input");
    auto& both = all.examples;
    all.test_rows = test.rows();
    both.columns = std::max(both.columns, test.columns);
    const auto entries = both.start.back();
    for (std::size_t row = 1; row < test.start.size(); ++row)
        both.start.push_back(entries + test.start[row]);
    both.column.insert(both.column.end(), test.column.begin(), test.column.end());
    both.value.insert(both.value.end(), test.value.begin(), test.value.end());
    both.label.insert(both.label.end(), test.label.begin(), test.label.end());
    return all;
}

}  // namespace

Entry<ReadFormat> libsvm_entry()
{
    return {.name = "libsvm",
            .arguments = "",
            .text = "LIBSVM or LIBLINEAR text: label index:value ..., indices from 1",
            .source = "",
            .options = {{"columns", "N", "", "number of columns; default: the largest index"}},
            .make = read};
}

}  // namespace quorate
