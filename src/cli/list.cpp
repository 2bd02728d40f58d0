// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "driver/components.hpp"
#include "job/experiment.hpp"
#include "job/profile.hpp"

namespace quorate {

namespace {

int list(const Settings& settings)
{
    const auto& wanted = settings.text("WHAT");
    std::vector<std::string> known = {"clusters", "experiments"};
    if (wanted == "clusters") {
        for (const auto& profile : profiles())
            fmt::print("{:<28} {}\n", profile.name, profile.summary);
        return exit_done;
    }
    if (wanted == "experiments") {
        for (const auto& one : experiments())
            fmt::print("{:<28} {} [{}]\n", one.name, one.summary,
                       one.runs && one.simulates ? "run, simulate"
                       : one.runs                ? "run"
                                                 : "simulate");
        return exit_done;
    }
    auto kinds = run_components();
    kinds.push_back(format_components());
    for (const auto& kind : kinds) {
        known.push_back(kind.plural);
        if (kind.plural != wanted) continue;
        for (const auto& component : kind.all) {
            fmt::print("{:<28} {}{}\n", component.form, component.text,
                       component.source.empty() ? "" : " [" + component.source + "]");
            if (!component.example.empty())
                fmt::print("{:<28}   e.g.{}\n", "", words_of(component.example));
            for (const auto& option : component.options)
                fmt::print("{:<28}   --{} {}  {}\n", "", option.name, option.argument, option.text);
        }
        return exit_done;
    }
    throw BadInput("quorate list: there are no " + wanted + suggestion(wanted, known));
}

}  // namespace

Command list_command()
{
    return {"list",
            "schemes, models, optimizers, delays, formats, clusters or experiments, one line each",
            "WHAT",
            {},
            list};
}

}  // namespace quorate
