// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/list.hpp"
#include "cli/usage.hpp"
#include "jobs/experiment.hpp"
#include "jobs/profile.hpp"

namespace quorate {

namespace {

// Prints what a component is beside and below its name.
void print(const Component& component)
{
    constexpr std::size_t column = 24;
    const auto source = component.source.empty() ? "" : " [" + component.source + "]";
    const bool fits = component.form.size() < column;
    fmt::print("{:<{}}{}{}\n", component.form, column, fits ? "" : "\n" + std::string(column, ' '),
               wrapped(component.text + source, help_width - column, column));
    if (!component.example.empty())
        fmt::print("{:<{}}e.g.{}\n", "", column, words_of(component.example));
}

int list(const Settings& settings)
{
    const auto kind = listed(settings.text("WHAT"));
    const auto& name = settings.text("NAME");
    if (name.empty()) {
        for (const auto& component : kind.all) print(component);
        return exit_done;
    }
    const auto one = std::ranges::find(kind.all, name, &Component::name);
    if (one == kind.all.end())
        throw BadInput(fmt::format("quorate list {}: there is no {}{}", kind.plural, name,
                                   suggestion(name, names(kind.all))));
    fmt::print("{}", component_help(*one));
    return exit_done;
}

ComponentKind clusters()
{
    ComponentKind kind{"cluster", "clusters", {}};
    for (const auto& profile : profiles())
        kind.all.push_back({profile.name, "", profile.name, profile.summary, "", {}});
    return kind;
}

ComponentKind all_experiments()
{
    ComponentKind kind{"experiment", "experiments", {}};
    for (const auto& one : experiments())
        kind.all.push_back({one.name,
                            "",
                            one.name,
                            one.summary,
                            one.runs && one.simulates ? "run, simulate"
                            : one.runs                ? "run"
                                                      : "simulate",
                            {}});
    return kind;
}

}  // namespace

std::vector<std::string> what_is_listed()
{
    std::vector<std::string> all;
    for (const auto& kind : run_components()) all.push_back(kind.plural);
    for (const auto* word : {"formats", "clusters", "experiments"}) all.emplace_back(word);
    return all;
}

ComponentKind listed(const std::string& what)
{
    if (what == "formats") return format_components();
    if (what == "clusters") return clusters();
    if (what == "experiments") return all_experiments();
    auto kinds = run_components();
    const auto kind = std::ranges::find(kinds, what, &ComponentKind::plural);
    if (kind == kinds.end())
        throw BadInput("quorate list: there are no " + what + suggestion(what, what_is_listed()));
    return std::move(*kind);
}

Command list_command()
{
    return {
        "list",
        "schemes, models, optimizers, schedules, delays, formats, clusters or experiments; or all "
        "of one: list schemes agc",
        "WHAT [NAME]",
        {},
        list};
}

}  // namespace quorate
