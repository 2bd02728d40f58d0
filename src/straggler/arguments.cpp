// SPDX-License-Identifier: BSD-2-Clause
#include "straggler/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/values.hpp"

namespace quorate {

DelayArguments::DelayArguments(const Settings& settings, const DelaySetup& setup)
    : settings_(settings), option_(setup.option), times_(setup.purpose != Purpose::slowdown)
{
    const auto& entry = chosen(delays(), settings, option_);
    names_ = entry.arguments;
    form_ = names_.empty() ? entry.name : entry.name + ":" + names_;
    const auto& value = settings.text(option_);
    const auto colon = value.find(':');
    if (colon != std::string::npos) text_ = value.substr(colon + 1);
    if (text_.empty() == !names_.empty()) refuse();
}

std::vector<std::string> DelayArguments::words() const
{
    return text_.empty() ? std::vector<std::string>() : split(text_, ',');
}

std::vector<std::string> DelayArguments::all_words() const
{
    auto given = words();
    const auto wanted = names_.empty() ? 0 : std::ranges::count(names_, ',') + 1;
    if (std::ssize(given) != wanted) refuse();
    return given;
}

std::vector<double> DelayArguments::values() const
{
    const auto given = all_words();
    const auto wanted = split(names_, ',');
    std::vector<double> all;
    for (std::size_t i = 0; i < given.size(); ++i) all.push_back(value(wanted[i], given[i]));
    return all;
}

double DelayArguments::value(const std::string& name, const std::string& word) const
{
    if (!times_) return number(name, word);
    const auto time = to_seconds(word);
    if (!time)
        refuse(fmt::format(", but {} is {}, not a time of at least 0, such as 0.05 or 50ms", name,
                           word.empty() ? "empty" : word));
    return *time;
}

double DelayArguments::number(const std::string& name, const std::string& word,
                              double highest) const
{
    const auto number = to_real(word);
    if (!number || *number < 0 || *number > highest)
        refuse(fmt::format(", but {} is {}, not a number {}", name, word.empty() ? "empty" : word,
                           highest < std::numeric_limits<double>::max()
                               ? fmt::format("from 0 to {}", highest)
                               : "of at least 0"));
    return *number;
}

void DelayArguments::refuse(const std::string& wrong) const
{
    refuse_value(unless_several(option_, settings_.text(option_), wrong + ": write " + form_,
                                quorate::names(delays())));
}

void DelayArguments::refuse_value(const std::string& wrong) const
{
    settings_.refuse(option_, wrong);
}

}  // namespace quorate
