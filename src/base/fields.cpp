// SPDX-License-Identifier: BSD-2-Clause
#include "base/fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace quorate {

void at_most(const std::string& option, std::int64_t value, std::int64_t highest)
{
    if (value > highest) throw Refusal(option, fmt::format(": use at most {}", highest));
}

std::int64_t whole_number_of(const GivenWords& words, std::int64_t highest)
{
    const auto& [option, form] = words.row;
    if (form.highest)
        highest = std::min(highest, static_cast<std::int64_t>(*form.highest));
    else if (option.fewer_than_workers && words.workers > 0)
        highest = words.workers - *option.fewer_than_workers;
    return words.settings.integer(words.name(), static_cast<std::int64_t>(form.lowest), highest);
}

double number_of(const GivenWords& words)
{
    const auto& [option, form] = words.row;
    for (const auto& [name, value] : form.named)
        if (words.text() == name) return value;
    const double highest = form.highest.value_or(std::numeric_limits<double>::max());
    return option.argument.starts_with("SECONDS")
               ? words.settings.seconds(words.name(), form.lowest, highest)
               : words.settings.real(words.name(), form.lowest, highest);
}

std::vector<std::string> allowed_words(const OptionRow& row)
{
    return row.form.words.empty() ? split(row.option.argument, '|') : row.form.words;
}

std::size_t place_of_word(const GivenWords& words)
{
    const auto all = allowed_words(words.row);
    const auto& word = words.settings.one_of(words.name(), all);
    return static_cast<std::size_t>(std::ranges::find(all, word) - all.begin());
}

std::string written_number(double value, const Form& form)
{
    for (const auto& [name, number] : form.named)
        if (value == number) return name;
    return fmt::format("{}", value);
}

}  // namespace quorate
