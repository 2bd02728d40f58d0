// SPDX-License-Identifier: BSD-2-Clause
#include "parts/components.hpp"

#include <algorithm>
#include <set>

#include "aggregator/aggregator.hpp"
#include "base/text.hpp"
#include "compressor/compressor.hpp"
#include "model/model.hpp"
#include "optimizer/optimizer.hpp"
#include "optimizer/schedule.hpp"
#include "scheme/scheme.hpp"
#include "straggler/delay.hpp"
#include "tables/formats.hpp"

namespace quorate {

namespace {

// Makes the description of a registry.
template <class Make>
ComponentKind kind(std::string option, std::string plural, const std::vector<Entry<Make>>& entries)
{
    ComponentKind kind{std::move(option), std::move(plural), {}};
    for (const auto& entry : entries) {
        kind.all.push_back(
            {entry.name, entry.arguments, entry.form(), entry.text, entry.source, entry.options});
        if constexpr (requires { entry.properties.example; })
            kind.all.back().example = entry.properties.example;
    }
    return kind;
}

// Returns the options of all components, each once.
std::vector<Option> options_of(const std::vector<ComponentKind>& kinds)
{
    std::vector<Option> options;
    for (const auto& kind : kinds)
        for (const auto& component : kind.all) add_options(options, component.options);
    return options;
}

// Returns the names of the options that the chosen components read.
std::set<std::string> used_options(const std::vector<ComponentKind>& kinds,
                                   const Settings& settings)
{
    std::set<std::string> used;
    for (const auto& kind : kinds)
        for (const auto& component : kind.all)
            if (component.name == split(settings.text(kind.option), ':').front())
                for (const auto& option : component.options) used.insert(option.name);
    return used;
}

}  // namespace

std::vector<ComponentKind> run_components()
{
    return {
        kind("scheme", "schemes", schemes()),
        kind("model", "models", models()),
        kind("optimizer", "optimizers", optimizers()),
        kind("schedule", "schedules", schedules()),
        kind("delay", "delays", delays()),
        kind("compressor", "compressors", compressors()),
        kind("aggregator", "aggregators", aggregators()),
    };
}

ComponentKind format_components() { return kind("format", "formats", formats()); }

std::vector<std::string> readers(const ComponentKind& kind, const std::string& option)
{
    std::vector<std::string> all;
    for (const auto& component : kind.all)
        if (std::ranges::find(component.options, option, &Option::name) != component.options.end())
            all.push_back(component.name);
    return all;
}

std::vector<Option> component_options() { return options_of(run_components()); }

void refuse_unused_options(const Settings& settings)
{
    const auto kinds = run_components();
    const auto used = used_options(kinds, settings);
    for (const auto& option : options_of(kinds)) {
        if (!settings.given(option.name) || used.contains(option.name)) continue;
        std::vector<std::string> users;
        for (const auto& kind : kinds) {
            const auto these = readers(kind, option.name);
            if (!these.empty()) users.push_back("--" + kind.option + " " + alternatives(these));
        }
        settings.refuse(option.name,
                        ", but only " + alternatives(users) + " uses it: leave it out");
    }
}

Settings without_unused_options(Settings settings)
{
    const auto kinds = run_components();
    const auto used = used_options(kinds, settings);
    for (const auto& option : options_of(kinds))
        if (!used.contains(option.name)) settings.set(option.name, {});
    return settings;
}

}  // namespace quorate
