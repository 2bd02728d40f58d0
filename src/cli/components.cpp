// SPDX-License-Identifier: BSD-2-Clause
#include "cli/components.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "model/model.hpp"
#include "optimizer/optimizer.hpp"
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

}  // namespace

const std::vector<ComponentKind>& run_components()
{
    static const std::vector<ComponentKind> all = {
        kind("scheme", "schemes", schemes()),
        kind("model", "models", models()),
        kind("optimizer", "optimizers", optimizers()),
        kind("delay", "delays", delays()),
    };
    return all;
}

std::vector<Option> component_options()
{
    std::vector<Option> options;
    for (const auto& kind : run_components())
        for (const auto& component : kind.all)
            for (const auto& option : component.options)
                if (!has(options, option.name)) options.push_back(option);
    return options;
}

void refuse_unused_options(const Settings& settings)
{
    for (const auto& option : component_options()) {
        if (!settings.given(option.name)) continue;
        bool used = false;
        std::vector<std::string> users;
        for (const auto& kind : run_components())
            for (const auto& component : kind.all)
                if (has(component.options, option.name)) {
                    used = used || component.name == split(settings.text(kind.option), ':').front();
                    users.push_back("--" + kind.option + " " + component.name);
                }
        if (!used)
            settings.refuse(option.name,
                            ", but only " + alternatives(users) + " uses it: leave it out");
    }
}

}  // namespace quorate
