// SPDX-License-Identifier: BSD-2-Clause
#include "base/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/values.hpp"

namespace quorate {

std::vector<std::vector<std::string>> GivenComponent::words(std::size_t arguments, bool list) const
{
    const auto& value = settings.text(option);
    const auto colon = value.find(':');
    const auto text = colon == std::string::npos ? "" : value.substr(colon + 1);
    if (arguments == 0 ? colon != std::string::npos : text.empty()) refuse();
    if (arguments == 0) return {};
    const auto all = split(text, ',');
    if (list ? all.size() + 1 < arguments : all.size() != arguments) refuse();
    std::vector<std::vector<std::string>> words(arguments);
    for (std::size_t i = 0; i < all.size(); ++i)
        words[std::min(i, arguments - 1)].push_back(trimmed(all[i]));
    return words;
}

void GivenComponent::refuse(const std::string& wrong) const
{
    settings.refuse(
        option, unless_several(option, settings.text(option), wrong + ": write " + form, known));
}

void GivenArgument::refuse(const std::string& wanted) const
{
    const auto& word = words.front();
    component.refuse(
        fmt::format(", but {} is {}, not {}", name, word.empty() ? "empty" : word, wanted));
}

namespace {

std::string number_within(const Bounds& bounds)
{
    const auto& [lowest, highest, timed] = bounds;
    const bool limited = highest < std::numeric_limits<double>::max();
    if (lowest == above_zero)
        return "a number above 0" + (limited ? fmt::format(", at most {}", highest) : "");
    return limited ? fmt::format("a number from {} to {}", lowest, highest)
                   : "a number of at least 0";
}

}  // namespace

void read_argument(double& number, const GivenArgument& given)
{
    const auto& [lowest, highest, timed] = given.bounds;
    const bool time = timed && given.component.times;
    const auto& word = given.words.front();
    const auto read = time ? to_seconds(word) : to_real(word);
    if (!read || *read < lowest || *read > highest)
        given.refuse(time ? "a time of at least 0, such as 0.05 or 50ms"
                          : number_within(given.bounds));
    number = *read;
}

void read_argument(std::int64_t& number, const GivenArgument& given)
{
    const auto read = to_integer(given.words.front());
    const auto& [lowest, highest, timed] = given.bounds;
    if (!read || static_cast<double>(*read) < lowest || static_cast<double>(*read) > highest)
        given.refuse(highest < std::numeric_limits<double>::max()
                         ? fmt::format("a whole number from {} to {}", lowest, highest)
                         : fmt::format("a whole number of at least {}", lowest));
    number = *read;
}

void read_argument(std::string& text, const GivenArgument& given)
{
    text = fmt::format("{}", fmt::join(given.words, ","));
}

std::string written_argument(double number, const Bounds&) { return fmt::format("{}", number); }
std::string written_argument(std::int64_t number, const Bounds&) { return std::to_string(number); }
std::string written_argument(const std::string& text, const Bounds&) { return text; }

}  // namespace quorate
