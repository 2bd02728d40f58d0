// SPDX-License-Identifier: BSD-2-Clause
#include "cli/guide.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/version.hpp"
#include "cli/parse.hpp"
#include "parts/components.hpp"

namespace quorate {

namespace {

struct Names {
    std::string title;
    std::vector<std::string> options;
};

const Names common = {common_options, {"config", "plugin", "quiet", "verbose", "help"}};

// Of all commands that train or simulate.
const std::vector<Names> of_training = {
    {"advice",
     {"measured", "schemes", "repeat", "target-loss", "heterogeneity", "time-limit", "show",
      "json"}},
    {"search", {"grid", "folds", "metric", "output"}},
    {"data and model", {"data", "model", "init", "l2", "l1"}},
    {"scheme", {"scheme", "workers", "threads", "coordinator-threads", "batch", "seed"}},
    {"optimiser",
     {"optimizer", "step", "schedule", "warmup", "clip", "rounds", "stop-at", "patience",
      "on-divergence"}},
    {"stragglers", {"delay", "slowdown", "row-time", "byzantine"}},
    {"simulation",
     {"dry", "rows", "columns", "nodes", "latency", "bandwidth", "port", "memory-bandwidth",
      "load-time", "replay"}},
    {"resilience",
     {"checkpoint", "checkpoint-every", "resume", "stop-before", "walltime", "resilient", "standby",
      "timeout", "events", "on-loss"}},
    {"messages", {"transport", "aggregate", "wire"}},
    {"output",
     {"trace", "folder", "overwrite", "unsaved", "evaluate", "evaluate-every", "trace-arrivals",
      "log"}},
    {"experiments", {"manifest", "row"}},
    common};

const std::vector<Names> of_import = {
    {"input",
     {"input", "test-input", "labels", "test-labels", "format", "separator", "decimal", "thousands",
      "first-index", "label", "header", "columns", "array", "csr", "limit-rows", "max-bytes"}},
    {"test rows and order", {"test-fraction", "split-seed", "shuffle"}},
    {"labels", {"task", "label-map", "label-scale"}},
    {"columns",
     {"use", "drop", "categorical", "categorical-by", "interactions", "exclude-pairs", "divide",
      "missing", "missing-values", "scale", "intercept", "image", "like"}},
    {"output", {"output", "overwrite", "name", "storage", "float32"}},
    common};

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

constexpr const char* of_kind = "of ";

}  // namespace

bool is_of_components(const OptionGroup& group) { return group.title.starts_with(of_kind); }

std::vector<OptionGroup> option_groups(const Command& command)
{
    auto left = all_options(command);
    std::vector<OptionGroup> groups;
    const auto add = [&](const std::string& title, std::vector<Option> options) {
        if (!options.empty()) groups.push_back({title, std::move(options)});
    };
    if (guide_of(command.name).first.empty()) {
        auto shared = take(left, common.options);
        add("options", std::move(left));
        add(common.title, std::move(shared));
        return groups;
    }
    for (const auto& [title, options] : command.name == "import" ? of_import : of_training)
        add(title, take(left, options));
    std::vector<OptionGroup> of_components;
    for (const auto& kind : run_components()) {
        std::vector<std::string> wanted;
        for (const auto& component : kind.all)
            for (const auto& option : component.options) wanted.push_back(option.name);
        if (auto options = take(left, wanted); !options.empty())
            of_components.push_back({of_kind + kind.plural, std::move(options)});
    }
    add("more", std::move(left));
    for (auto& group : of_components) groups.push_back(std::move(group));
    return groups;
}

Guide guide_of(const std::string& command)
{
    const auto ranks = fmt::format("{} -n 9 quorate run", launcher);
    if (command == "run")
        return {{"data", "model", "scheme", "optimizer", "step", "rounds", "delay", "seed", "trace",
                 "checkpoint"},
                {ranks + " --data data.h5 --scheme frc --stragglers 1 --trace frc.h5",
                 ranks + " --data data.h5 --scheme agc --stragglers 1 --collect 4 "
                         "--delay exponential:0.05 --trace agc.h5"}};
    if (command == "simulate")
        return {{"data", "dry", "workers", "scheme", "model", "rounds", "delay", "row-time", "seed",
                 "trace"},
                {"quorate simulate --dry --workers 1000 --scheme frc --stragglers 1 "
                 "--delay exponential:1 --row-time 1e-3 --trace times.h5",
                 "quorate simulate --data data.h5 --workers 8 --scheme agc --stragglers 1 "
                 "--delay pareto:0.1,2 --row-time 1e-5 --trace many.h5"}};
    if (command == "import")
        return {{"input", "output", "format", "label", "test-input", "test-fraction", "categorical",
                 "scale", "intercept", "like"},
                {"quorate import --input train.csv --label target --test-fraction 0.2 "
                 "--scale standardise --intercept --output data.h5",
                 "quorate import --input train.libsvm --test-input test.libsvm --output data.h5"}};
    if (command == "advise")
        return {{"workers", "measured", "delay", "row-time", "data", "model", "rounds",
                 "target-loss", "schemes", "repeat"},
                {"quorate advise --workers 8 --delay exponential:0.05 --row-time 1e-5",
                 "quorate advise --measured uncoded.h5 --data data.h5 --schemes frc,agc,ignore"}};
    if (command == "tune")
        return {{"grid", "data", "model", "optimizer", "step", "rounds", "l2", "folds", "metric",
                 "output"},
                {"quorate tune --data data.h5 --grid l2=1e-5..1e-1x5,step=0.1:1"}};
    if (command == "generate")
        return {{}, {"quorate generate --rows 2000 --columns 20 --test-rows 500 --output data.h5"}};
    if (command == "evaluate") return {{}, {"quorate evaluate frc.h5"}};
    if (command == "predict")
        return {{}, {"quorate predict frc.h5 --data data.h5 --output scores.csv"}};
    if (command == "optimum") return {{}, {"quorate optimum --data data.h5"}};
    if (command == "inspect") return {{}, {"quorate inspect frc.h5", "quorate inspect data.h5"}};
    if (command == "analysis")
        return {
            {},
            {"quorate analysis compare frc.h5 agc.h5", "quorate analysis report frc.h5 agc.h5"}};
    if (command == "list") return {{}, {"quorate list schemes", "quorate list schemes agc"}};
    if (command == "script" || command == "submit")
        return {{}, {"quorate " + command + " --experiment stragglers --cluster trillium"}};
    if (command == "doctor")
        return {{},
                {"quorate doctor",
                 fmt::format("{} -n 9 quorate doctor --data data.h5 --trace frc.h5", launcher)}};
    if (command == "todo") return {{}, {"quorate todo --manifest stragglers/manifest.tsv"}};
    return {};
}

}  // namespace quorate
