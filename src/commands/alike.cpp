// SPDX-License-Identifier: BSD-2-Clause
#include "commands/alike.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "parts/components.hpp"
#include "run/checkpoint.hpp"
#include "run/resumption.hpp"

namespace quorate {

std::vector<std::string> to_be_alike(const Settings& settings)
{
    std::vector<std::string> lines;
    for (const auto& [name, value] : lasting_options(configuration(settings, false)))
        lines.push_back(fmt::format("--{} {}", name, value));
    for (const auto& kind : run_components()) {
        if (!settings.has(kind.option)) continue;
        const auto& value = settings.text(kind.option);
        const auto found =
            std::ranges::find(kind.all, value.substr(0, value.find(':')), &Component::name);
        if (found != kind.all.end())
            lines.push_back(fmt::format("the {} {}: {}", kind.option, found->name, found->text));
    }
    return lines;
}

void check_alike(int rank, const std::vector<std::string>& theirs,
                 const std::vector<std::string>& ours)
{
    const auto [their, our] = std::ranges::mismatch(theirs, ours);
    const auto told = [](const auto& at, const auto& lines) {
        return at == lines.end() ? std::string("fewer options") : *at;
    };
    if (their != theirs.end() || our != ours.end())
        throw BadInput(fmt::format(
            "rank {} has {}, rank 0 has {}: start all ranks with the same options, model and data",
            rank, told(their, theirs), told(our, ours)));
}

}  // namespace quorate
