// SPDX-License-Identifier: BSD-2-Clause
#include "cli/usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/option_groups.hpp"
#include "cli/parse.hpp"

namespace quorate {

namespace {

std::string option_lines(const std::vector<Option>& options)
{
    std::string text;
    for (const auto& option : options)
        text +=
            beside(trimmed(fmt::format("--{} {}", option.name, option.argument)).insert(0, 2, ' '),
                   with_brackets(option.text, option.fallback));
    return text;
}

// Whether a command has the options of a component: `generate --model` is another word than that of
// `run`.
bool has_options_of(const std::vector<Option>& options, const Component& component)
{
    return std::ranges::all_of(component.options, [&](const auto& option) {
        return std::ranges::find(options, option.name, &Option::name) != options.end();
    });
}

// Returns the help of the components that the user has named; empty if there are none.
std::string given_components(const Command& command, const Settings& settings)
{
    const auto options = all_options(command);
    std::string text;
    for (const auto& kind : run_components()) {
        const bool known = std::ranges::all_of(
            kind.all, [&](const auto& component) { return has_options_of(options, component); });
        if (!settings.given(kind.option) || !known) continue;
        const auto word = split(settings.text(kind.option), ':').front();
        const auto at = std::ranges::find(kind.all, word, &Component::name);
        if (at == kind.all.end()) settings.refuse(kind.option, suggestion(word, names(kind.all)));
        text +=
            fmt::format("{}--{} {}", text.empty() ? "" : "\n", kind.option, component_help(*at));
    }
    return text;
}

std::string examples_of(const Command& command)
{
    if (command.examples.empty()) return "";
    return fmt::format("\nExamples:\n  {}\n", fmt::join(command.examples, "\n  "));
}

// Returns the options that come first, and the names of the others.
std::string first_options(const Command& command)
{
    std::vector<Option> first;
    const auto options = all_options(command);
    for (const auto& name : command.first) {
        const auto at = std::ranges::find(options, name, &Option::name);
        if (at != options.end()) first.push_back(*at);
    }
    auto text = "What most people need:\n" + option_lines(first) + examples_of(command);
    text += fmt::format("\nThe others, which quorate {} --help=all tells:\n", command.name);
    const auto groups = option_groups(command);
    for (const auto& [title, all, of_components] : groups) {
        auto others = names(all);
        std::erase_if(others, [&](const auto& name) {
            return std::ranges::find(command.first, name) != command.first.end();
        });
        if (!of_components && !others.empty())
            text += beside("  " + title, fmt::format("--{}", fmt::join(others, " --")));
    }
    if (groups.back().of_components) {
        const bool schemes = std::ranges::find(options, "scheme", &Option::name) != options.end();
        const auto more = fmt::format(
            "Schemes, models, optimizers and the like have options of their own: "
            "'quorate {} --{} --help' or 'quorate list schemes agc' tells them.",
            command.name, schemes ? "scheme agc" : "optimizer adam");
        text += fmt::format("\n{}\n", wrapped(more, help_width, 0));
    }
    return text;
}

}  // namespace

std::string with_brackets(const std::string& text, const std::string& in_brackets)
{
    return in_brackets.empty() ? text : fmt::format("{} [{}]", text, in_brackets);
}

std::string beside(const std::string& head, const std::string& text)
{
    auto line = fmt::format("{:<{}}", head, help_column);
    if (head.size() >= help_column) line.append(1, '\n').append(help_column, ' ');
    return line + wrapped(text, help_width - help_column, help_column) + "\n";
}

std::string component_help(const Component& component)
{
    auto text = component.form + "\n";
    text +=
        "  " + wrapped(with_brackets(component.text, component.source), help_width - 2, 2) + "\n";
    if (!component.options.empty()) text += "\n" + option_lines(component.options);
    if (!component.example.empty()) text += "\n  e.g." + words_of(component.example) + "\n";
    return text;
}

std::string times_are_written(const std::vector<Option>& options)
{
    const auto takes_time = [](const Option& option) {
        return option.argument.starts_with("SECONDS") || option.argument == "TIME";
    };
    if (std::ranges::none_of(options, takes_time)) return "";
    return "A time is a number of seconds, or has a unit: 50ms, 10us, 2s, 5min, 1h.";
}

std::string usage(const Command& command, const Settings& settings)
{
    auto text = fmt::format("quorate {}{}{} [OPTIONS]\n{}\n\n", command.name,
                            command.operand.empty() ? "" : " ", command.operand,
                            wrapped(command.text, help_width, 0));
    const bool all = settings.text("help") == "all";
    if (const auto components = given_components(command, settings); !all && !components.empty())
        return text + components +
               fmt::format("\nThe options of all: quorate {} --help\n", command.name);
    auto times = times_are_written(all_options(command));
    if (!times.empty()) times = fmt::format("\n{}\n", times);
    if (!all && !command.first.empty()) return text + first_options(command) + times;
    for (const auto& group : option_groups(command))
        text += fmt::format("{}{}:\n{}", text.ends_with("\n\n") ? "" : "\n", group.title,
                            option_lines(group.options));
    return text + times + examples_of(command);
}

}  // namespace quorate
