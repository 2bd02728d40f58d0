// SPDX-License-Identifier: BSD-2-Clause
#include "base/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "base/error.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"
#include "base/values.hpp"

namespace quorate {

void add_options(std::vector<Option>& all, const std::vector<Option>& more)
{
    for (const auto& option : more)
        if (std::ranges::find(all, option.name, &Option::name) == all.end()) all.push_back(option);
}

std::string words_of(const Choice& options)
{
    std::string words;
    for (const auto& [name, value] : options)
        words += " --" + name + (value == "on" ? "" : " " + value);
    return words;
}

namespace {

// The option that has this name in other programs; empty: there is none.
std::string elsewhere_called(const std::string& name)
{
    static const std::map<std::string, std::string> known = {
        {"lr", "step"},          {"learning-rate", "step"}, {"step-size", "step"},
        {"batch-size", "batch"}, {"epochs", "rounds"},      {"iterations", "rounds"},
        {"steps", "rounds"},     {"n-workers", "workers"},  {"num-workers", "workers"},
        {"weight-decay", "l2"},  {"random-state", "seed"},  {"output-dir", "folder"}};
    const auto at = known.find(name);
    return at == known.end() ? "" : at->second;
}

}  // namespace

std::string option_meant(const std::string& name, const std::vector<std::string>& known)
{
    auto plain = name;
    std::ranges::transform(plain, plain.begin(), [](unsigned char c) {
        return c == '_' ? '-' : static_cast<char>(std::tolower(c));
    });
    for (const auto& word : {plain, elsewhere_called(plain)})
        if (std::ranges::find(known, word) != known.end()) return word;
    return nearest(name, known);
}

bool Settings::given(const std::string& name) const
{
    const auto at = values_.find(name);
    return at != values_.end() && at->second.given;
}

const std::string& Settings::text(const std::string& name) const
{
    const auto at = values_.find(name);
    if (at == values_.end())
        throw std::logic_error("option --" + name + " is read but not declared");
    return at->second.text;
}

std::int64_t Settings::integer(const std::string& name, std::int64_t lowest,
                               std::int64_t highest) const
{
    const auto number = to_integer(text(name));
    if (!number) refuse(name, unless_several(name, text(name), ": give a whole number"));
    if (*number < lowest) refuse(name, fmt::format(": use at least {}", lowest));
    if (*number > highest) refuse(name, fmt::format(": use at most {}", highest));
    return *number;
}

double Settings::real(const std::string& name, double lowest, double highest) const
{
    const auto number = to_real(text(name));
    if (!number) refuse(name, unless_several(name, text(name), ": give a finite number"));
    if (*number < lowest) refuse(name, fmt::format(": use at least {}", lowest));
    if (*number > highest) refuse(name, fmt::format(": use at most {}", highest));
    return *number;
}

Seconds Settings::seconds(const std::string& name, Seconds lowest, Seconds highest) const
{
    const auto& written = text(name);
    // A number below zero is one that is too small.
    const auto time = to_real(written) ? to_real(written) : to_seconds(written);
    if (!time) refuse(name, ": give seconds, or a time such as 50ms, 10us, 2s or 5min");
    if (*time < lowest) refuse(name, fmt::format(": use at least {}", lowest));
    if (*time > highest) refuse(name, fmt::format(": use at most {}", highest));
    return *time;
}

const std::string& Settings::one_of(const std::string& name,
                                    const std::vector<std::string>& words) const
{
    const auto& word = text(name);
    if (std::find(words.begin(), words.end(), word) == words.end())
        refuse(name, unless_several(name, word, suggestion(word, words), words));
    return word;
}

void Settings::refuse(const std::string& name, const std::string& wrong) const
{
    const auto& value = values_.at(name);
    throw BadInput(fmt::format("{}--{} is {}{}", value.origin, name,
                               value.text.empty() ? "empty" : value.text, wrong));
}

std::string Settings::ini() const
{
    std::string lines;
    for (const auto& [name, value] : values_)
        if (!value.text.empty()) lines += name + " = " + ini_text(value.text) + "\n";
    return lines;
}

std::string stored_value(const Option& option, const std::string& text, const std::string& origin)
{
    if (!option.argument.empty()) return text;
    if (text == "on" || text == "true") return "on";
    if (text == "off" || text == "false") return "";
    throw BadInput(fmt::format("{}{} is {}: write on or off", origin, option.name, text));
}

Settings make_settings(const std::vector<Option>& known, const Options& given)
{
    Settings settings;
    for (const auto& option : known) settings.set(option.name, {option.fallback, "", false});
    for (const auto& [name, text] : given) {
        const auto option = std::ranges::find(known, name, &Option::name);
        if (option == known.end()) {
            const auto meant = option_meant(name, names(known));
            throw BadInput(fmt::format("there is no option {}{}", name,
                                       meant.empty() ? "" : "; did you mean " + meant + "?"));
        }
        settings.set(name, {text.empty() ? text : stored_value(*option, text), "", true});
    }
    return settings;
}

}  // namespace quorate
