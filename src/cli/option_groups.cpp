// SPDX-License-Identifier: BSD-2-Clause
#include "cli/option_groups.hpp"

#include <algorithm>
#include <span>

#include "base/text.hpp"
#include "cli/parse.hpp"
#include "parts/components.hpp"

namespace quorate {

namespace {

struct Names {
    const char *title, *options;
};

constexpr Names common = {common_options, "config plugin quiet verbose help"};

// Of all commands that train or simulate.
constexpr Names of_training[] = {
    {"advice", "measured schemes repeat target-loss heterogeneity time-limit show json"},
    {"search", "grid folds metric average output"},
    {"data and model", "data model init l2 l1"},
    {"scheme", "scheme workers threads coordinator-threads batch seed"},
    {"optimiser",
     "optimizer inner-optimizer inner-state step schedule warmup clip rounds stop-at stop-for "
     "patience on-divergence"},
    {"stragglers",
     "delay row-delay uplink-delay downlink-delay slowdown row-time load-slope byzantine"},
    {"simulation",
     "dry rows columns nodes latency bandwidth port memory-bandwidth load-time replay"},
    {"resilience",
     "checkpoint checkpoint-every memory-checkpoint-every resume stop-before walltime resilient "
     "standby timeout events on-loss unsaved"},
    {"messages", "transport aggregate wire compressor error-feedback"},
    {"output",
     "trace folder overwrite evaluate evaluate-every evaluate-rows trace-arrivals trace-weights "
     "log"},
    {"experiments", "manifest row"},
    common};

constexpr Names of_import[] = {
    {"input",
     "input test-input labels test-labels format separator decimal thousands first-index label "
     "header columns array limit-rows max-bytes"},
    {"test rows and order", "test-fraction split-seed shuffle"},
    {"labels", "task label-map label-scale"},
    {"columns",
     "use drop categorical categorical-by interactions exclude-pairs divide missing "
     "missing-values scale intercept image like"},
    {"output", "output overwrite name storage float32"},
    common};

constexpr Names of_others[] = {common};

// Takes the options of these names out of `left`, in the order of the names.
std::vector<Option> take(std::vector<Option>& left, const std::vector<std::string>& wanted)
{
    std::vector<Option> taken;
    for (const auto& name : wanted) {
        const auto at = std::ranges::find(left, name, &Option::name);
        if (at == left.end()) continue;
        taken.push_back(std::move(*at));
        left.erase(at);
    }
    return taken;
}

}  // namespace

std::vector<OptionGroup> option_groups(const Command& command)
{
    const bool plain = command.first.empty();  // of few options, which need no titles
    const auto named = plain                      ? std::span<const Names>(of_others)
                       : command.name == "import" ? std::span<const Names>(of_import)
                                                  : std::span<const Names>(of_training);
    auto left = all_options(command);
    std::vector<OptionGroup> groups, of_components;
    for (const auto& [title, options] : named)
        groups.push_back({title, take(left, split(options, ' '))});
    for (const auto& kind : plain ? std::vector<ComponentKind>() : run_components()) {
        std::vector<std::string> wanted;
        for (const auto& component : kind.all)
            std::ranges::copy(names(component.options), std::back_inserter(wanted));
        of_components.push_back({"of " + kind.plural, take(left, wanted), true});
    }
    groups.insert(plain ? groups.begin() : groups.end(),
                  OptionGroup{plain ? "options" : "more", std::move(left)});
    std::ranges::move(of_components, std::back_inserter(groups));
    std::erase_if(groups, [](const auto& group) { return group.options.empty(); });
    return groups;
}

}  // namespace quorate
