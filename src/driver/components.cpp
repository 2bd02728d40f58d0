// SPDX-License-Identifier: BSD-2-Clause
#include "driver/components.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "model/model.hpp"
#include "optimizer/optimizer.hpp"
#include "optimizer/schedule.hpp"
#include "scheme/scheme.hpp"
#include "straggler/delay.hpp"

namespace quorate {

namespace {

template <class Make>
ComponentKind kind(std::string option, std::string plural, const std::vector<Entry<Make>>& entries)
{
    ComponentKind kind{std::move(option), std::move(plural), {}};
    for (const auto& entry : entries)
        kind.all.push_back({entry.name, entry.arguments, entry.text, entry.source, entry.options});
    return kind;
}

bool has(const std::vector<Option>& options, const std::string& name)
{
    return std::any_of(options.begin(), options.end(),
                       [&](const auto& option) { return option.name == name; });
}

// Whether one of the chosen components reads it.
bool is_used(const Option& option, const Settings& settings)
{
    for (const auto& kind : run_components())
        for (const auto& component : kind.all)
            if (component.name == split(settings.text(kind.option), ':').front() &&
                has(component.options, option.name))
                return true;
    return false;
}

}  // namespace

const std::vector<ComponentKind>& run_components()
{
    static const std::vector<ComponentKind> all = {
        kind("scheme", "schemes", schemes()),
        kind("model", "models", models()),
        kind("optimizer", "optimizers", optimizers()),
        kind("schedule", "schedules", schedules()),
        kind("delay", "delays", delays()),
    };
    return all;
}

std::vector<Option> component_options()
{
    std::vector<Option> options;
    for (const auto& kind : run_components())
        for (const auto& component : kind.all) add_options(options, component.options);
    return options;
}

void refuse_unused_options(const Settings& settings)
{
    for (const auto& option : component_options()) {
        if (!settings.given(option.name) || is_used(option, settings)) continue;
        std::vector<std::string> users;
        for (const auto& kind : run_components()) {
            std::vector<std::string> names;
            for (const auto& component : kind.all)
                if (has(component.options, option.name)) names.push_back(component.name);
            if (!names.empty()) users.push_back("--" + kind.option + " " + alternatives(names));
        }
        settings.refuse(option.name,
                        ", but only " + alternatives(users) + " uses it: leave it out");
    }
}

Settings without_unused_options(Settings settings)
{
    for (const auto& option : component_options())
        if (!is_used(option, settings)) settings.set(option.name, {});
    return settings;
}

}  // namespace quorate
