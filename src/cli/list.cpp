// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/usage.hpp"
#include "jobs/experiment.hpp"
#include "jobs/profile.hpp"

namespace quorate {

namespace {

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

// Returns what there is of schemes, models, ..., clusters or experiments. @throws Failure if there
// is no folder of clusters or experiments
ComponentKind listed(const std::string& what)
{
    if (what == "formats") return format_components();
    if (what == "clusters") return clusters();
    if (what == "experiments") return all_experiments();
    std::vector<std::string> known;
    for (const auto& kind : run_components()) {
        if (kind.plural == what) return kind;
        known.push_back(kind.plural);
    }
    known.insert(known.end(), {"formats", "clusters", "experiments"});
    throw BadInput("quorate list: there are no " + what + suggestion(what, known));
}

int list(const Settings& settings)
{
    const auto kind = listed(settings.text("WHAT"));
    const auto& name = settings.text("NAME");
    if (name.empty()) {
        for (const auto& one : kind.all) {
            fmt::print("{}", beside(one.form, with_brackets(one.text, one.source)));
            if (!one.example.empty())
                fmt::print("{:<{}}e.g.{}\n", "", help_column, words_of(one.example));
        }
        return exit_done;
    }
    const auto one = std::ranges::find(kind.all, name, &Component::name);
    if (one == kind.all.end())
        throw BadInput(fmt::format("quorate list {}: there is no {}{}", kind.plural, name,
                                   suggestion(name, names(kind.all))));
    fmt::print("{}", component_help(*one));
    return exit_done;
}

}  // namespace

Command list_command()
{
    return {.name = "list",
            .text =
                "schemes, models, optimizers, schedules, delays, compressors, aggregators, "
                "formats, clusters or experiments; or all of one: list schemes agc",
            .operand = "WHAT [NAME]",
            .run = list,
            .examples = {"quorate list schemes", "quorate list schemes agc"}};
}

}  // namespace quorate
