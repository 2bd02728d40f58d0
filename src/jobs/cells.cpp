// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/cells.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "base/values.hpp"
#include "commands/options.hpp"
#include "parts/components.hpp"
#include "parts/plugins.hpp"

namespace quorate {

namespace {

// Returns the options that a row may have: those of the command, and --plugin.
std::vector<Option> options_of_rows(RunKind kind)
{
    auto options = kind == RunKind::run ? run_options() : simulation_options();
    options.push_back(plugin_option());
    return options;
}

// Returns how several values of an option are written, if a text looks like several; empty: it is
// one.
std::string several_of(const Option& option, const std::string& text,
                       const std::vector<ComponentKind>& kinds)
{
    if (option.argument == "N" || to_real(option.fallback) || option.name == "step")
        return several_values(text);
    const auto kind = std::ranges::find(kinds, option.name, &ComponentKind::option);
    return kind == kinds.end() ? "" : several_values(text, names(kind->all));
}

void refuse_unknown_columns(const Manifest& manifest, const std::string& path, RunKind kind)
{
    const auto known = names(options_of_rows(kind));
    for (const auto& name : manifest.options()) {
        if (std::ranges::find(known, name) != known.end() && name != "manifest" && name != "row" &&
            name != "overwrite" && name != "folder")
            continue;
        const auto meant = option_meant(name, known);
        throw BadInput(fmt::format(
            "{}: quorate {} has no option {}{}", path, word_of(kind), plain(name),
            meant.empty() || meant == name ? fmt::format("; see quorate {} --help", word_of(kind))
                                           : fmt::format("; did you mean {}?", meant)));
    }
}

}  // namespace

void check_cells(const Manifest& manifest, const std::string& path, RunKind kind, bool lists)
{
    refuse_unknown_columns(manifest, path, kind);
    manifest.refuse_shared_checkpoints();
    const auto options = options_of_rows(kind);
    const auto kinds = run_components();
    for (const auto& row : manifest.rows())
        for (const auto& [name, text] : row.options) {
            const auto& option = *std::ranges::find(options, name, &Option::name);
            const auto refuse = [&, &name = name, &text = text](const std::string& wanted) {
                throw BadInput(fmt::format("{}{} is {}: {}", row.origin, name, text, wanted));
            };
            stored_value(option, text, row.origin);
            // A comma without a blank behind it, or a dash, makes one value of what was to be
            // several.
            if (const auto several = several_of(option, text, kinds); lists && !several.empty())
                refuse(fmt::format("write {} for several values", several));
            // Traces and checkpoints keep options as the lines of an INI file.
            if (text.find_first_of("\n\r") != std::string::npos) refuse("leave out the line break");
            if (option.argument == "N" && !to_integer(text)) refuse("write a whole number");
            if (name == "step" && text != "auto" && !to_real(text))
                refuse("write a number, or auto");
            const bool number = to_real(option.fallback) && option.argument != "SECONDS" &&
                                option.argument.find_first_of("|,") == std::string::npos;
            if (number && !to_real(text)) refuse("write a number");
            const bool time = option.argument == "SECONDS" && to_duration(option.fallback);
            if (time && !to_duration(text)) refuse("write seconds, or a time such as 50ms or 5min");
        }
}

}  // namespace quorate
