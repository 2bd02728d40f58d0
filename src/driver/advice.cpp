// SPDX-License-Identifier: BSD-2-Clause
#include "driver/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "driver/components.hpp"
#include "driver/defaults.hpp"
#include "driver/measured.hpp"
#include "driver/penalties.hpp"

namespace quorate {

namespace {

// Returns the options of a simulation that all candidates share: neither those of schemes, which a
// candidate chooses, nor those that make sense for a single run only, such as its files.
std::vector<Option> shared_options()
{
    std::set<std::string> others = {"scheme",      "trace",    "trace-arrivals",
                                    "checkpoint",  "resume",   "checkpoint-every",
                                    "stop-before", "walltime", "events",
                                    "on-loss",     "standby",  "timeout",
                                    "load-time",   "replay",   "log",
                                    "manifest",    "row",      "dry",
                                    "overwrite",   "evaluate", "workers"};
    const auto kinds = run_components();
    const auto schemes = std::ranges::find(kinds, "scheme", &ComponentKind::option);
    for (const auto& scheme : schemes->all)
        for (const auto& option : scheme.options) others.insert(option.name);
    std::vector<Option> all;
    for (auto& option : simulation_options())
        if (!others.contains(option.name)) all.push_back(std::move(option));
    std::ranges::find(all, "rounds", &Option::name)->fallback = "100";
    return all;
}

// Returns how uncoded would be trained, for all candidates to be trained alike.
Options update_rule(const Settings& settings)
{
    const DataSet data(settings.text("data"));
    const auto model = chosen(models(), settings, "model").make(settings, data.shape());
    const auto rows = data.rows(Split::train);
    const auto regularizer = regularizer_of(settings, rows);
    const auto batch = settings.integer("batch", 0);
    const EstimateKind estimates{.exact = batch == 0, .samples = batch};
    const auto resolved = with_defaults(settings, estimates, model.get(), regularizer);
    const auto step =
        settings.text("step") == "auto"
            ? fmt::format("{}", automatic_step(resolved, data, *model, regularizer, estimates))
            : settings.text("step");
    return {{"optimizer", resolved.text("optimizer")},
            {"schedule", resolved.text("schedule")},
            {"step", step}};
}

Options shared_values(const Settings& settings)
{
    Options values = {{"workers", settings.text("workers")}};
    for (const auto& option : shared_options())
        if (settings.given(option.name) && option.name != "seed" && option.name != "rounds")
            values.emplace(option.name, settings.text(option.name));
    if (!settings.on("data")) values.emplace("dry", "on");
    return values;
}

std::vector<Candidate> chosen_candidates(const Settings& settings)
{
    const auto workers = static_cast<int>(settings.integer("workers", 1, 100'000));
    auto all = candidates(workers, settings.given("row-time"));
    if (!settings.on("schemes")) return all;
    std::set<std::string> known, wanted;
    for (const auto& candidate : all) known.insert(candidate.scheme);
    for (const auto& name : split(settings.text("schemes"), ',')) {
        wanted.insert(trimmed(name));
        if (!known.contains(trimmed(name)))
            settings.refuse("schemes", ", where " + trimmed(name) + " is none that is compared" +
                                           suggestion(trimmed(name), {known.begin(), known.end()}));
    }
    std::erase_if(all, [&](const auto& one) { return !wanted.contains(one.scheme); });
    return all;
}

// Returns for each candidate with how many of the seeds it was the fastest.
std::vector<int> wins(const std::vector<Prediction>& all, int seeds)
{
    std::vector<int> count(all.size());
    for (int seed = 0; seed < seeds; ++seed) {
        const auto at = std::ranges::min_element(all, {}, [&](const Prediction& one) {
            return one.seconds[static_cast<std::size_t>(seed)];
        });
        ++count[static_cast<std::size_t>(at - all.begin())];
    }
    return count;
}

}  // namespace

std::vector<Option> advice_options()
{
    std::vector<Option> all = {
        {"workers", "N", "", "workers that there will be"},
        {"measured", "FILE", "",
         "trace of a short run of uncoded on the cluster: what is not given of workers, rows, "
         "row-time, slowdown and latency is taken from it"},
        {"schemes", "NAME,...", "",
         "compare these only; default: all that have parameters to choose"},
        {"repeat", "N", "5", "simulations of each candidate, with different seeds"},
        {"target-loss", "X", "",
         "with --data, the training loss to reach; default: that of uncoded after --rounds"},
        {"heterogeneity", "H", "1",
         "without --data: variance of the partitions' gradients over the square of their mean; "
         "what approximate schemes lose by it"}};
    for (auto& option : shared_options()) all.push_back(std::move(option));
    return all;
}

Advice advise(const Settings& given)
{
    Advice advice{with_measured(given), 0, {}, {}};
    const auto& settings = advice.settings;
    if (!settings.on("workers"))
        throw BadInput("quorate advise needs --workers N, or --measured FILE");
    if (settings.on("target-loss") && !settings.on("data"))
        settings.refuse("target-loss",
                        ", but nothing is trained without --data: leave it out, or give data");
    auto shared = shared_values(settings);
    if (settings.on("data")) shared.merge(update_rule(settings));
    advice.seeds = static_cast<int>(settings.integer("repeat", 1, 1000));
    const Candidate baseline{"uncoded", {}};
    const auto candidates = chosen_candidates(settings);
    // Options that are wrong for all candidates throw here. predict() would take them for a scheme
    // that cannot be made with these settings, and leave the scheme out.
    auto target = final_loss(baseline, settings, shared);
    if (settings.on("target-loss")) target = settings.real("target-loss", 0);
    std::vector<std::optional<Prediction>> predictions(candidates.size());
    in_parallel(candidates.size(), simulations_at_once(settings), [&](std::size_t i) {
        predictions[i] = predict(candidates[i], settings, shared, advice.seeds, target);
    });
    for (auto& prediction : predictions)
        if (prediction) advice.ranked.push_back(std::move(*prediction));
    if (advice.ranked.empty())
        throw BadInput(
            "no scheme can be simulated with these options: try quorate simulate with them, "
            "which says why");
    std::ranges::stable_sort(advice.ranked, {}, &Prediction::mean);
    advice.fastest = wins(advice.ranked, advice.seeds);
    return advice;
}

}  // namespace quorate
