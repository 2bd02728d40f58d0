// SPDX-License-Identifier: BSD-2-Clause
// quorate advise: simulates schemes with different redundancy, and ranks them by time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "driver/components.hpp"
#include "driver/launch.hpp"
#include "driver/measured.hpp"
#include "driver/prediction.hpp"

namespace quorate {

namespace {

using Json = nlohmann::ordered_json;

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
    for (auto& option : simulate_command().options)
        if (!others.contains(option.name)) all.push_back(std::move(option));
    return all;
}

std::vector<Option> options()
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
         "what approximate schemes lose by it"},
        {"show", "N", "10", "lines of the table"},
        {"json", "", "", "print all candidates as JSON"}};
    for (auto& option : shared_options()) all.push_back(std::move(option));
    return all;
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

// Whether these simulations do not tell a candidate from the first: the mean difference is at most
// two standard errors. Differences are taken seed by seed, because all candidates had the same
// delays.
bool is_like_the_first(const Prediction& one, const Prediction& first)
{
    std::vector<double> apart;
    for (std::size_t i = 0; i < one.seconds.size(); ++i)
        apart.push_back(one.seconds[i] - first.seconds[i]);
    return one.mean() - first.mean() <= 2 * standard_error(apart);
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

std::string command_of(const Prediction& best, const Settings& settings)
{
    std::string line = fmt::format("quorate run --scheme {}", best.candidate.text());
    if (settings.on("data")) line += " --data " + settings.text("data");
    for (const auto* name : {"model", "optimizer", "step", "schedule", "batch", "l2", "rounds"})
        if (settings.given(name)) line += fmt::format(" --{} {}", name, settings.text(name));
    return fmt::format("{} --trace FILE      # {} ranks", line, settings.integer("workers", 1) + 1);
}

void print_table(const std::vector<Prediction>& all, const std::vector<int>& won,
                 const Settings& settings, int seeds)
{
    const auto shown = std::min(all.size(), static_cast<std::size_t>(settings.integer("show", 1)));
    std::size_t width = 6;
    for (std::size_t i = 0; i < shown; ++i) width = std::max(width, all[i].candidate.text().size());
    fmt::print("{:>4} {:<{}} {:>18} {:>10} {:>8} {:>12} {:>7}\n", "", "scheme", width,
               "seconds to target", "s a round", "rounds", "closed form", "fastest");
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& one = all[i];
        fmt::print("{:>3}{} {:<{}} {:>9.4g} +- {:<5.2g} {:>10.4g} {:>8.4g} {:>12} {:>3} of {}\n",
                   i + 1, i > 0 && is_like_the_first(one, all[0]) ? '~' : ' ', one.candidate.text(),
                   width, one.mean(), standard_error(one.seconds), one.round_seconds, one.rounds,
                   one.closed ? fmt::format("{:.4g}", *one.closed) : "-", won[i], seeds);
    }
    if (!settings.given("row-time") && !settings.text("delay").starts_with("trace"))
        fmt::print("rows take no time, so redundancy costs nothing: give --row-time\n");
    if (settings.on("measured"))
        fmt::print("latency {} s; workers, row times and slowdowns as in {}, where not given\n",
                   settings.text("latency"), settings.text("measured"));
    fmt::print("{} candidates; ~: not told from the first by {} simulations each\n", all.size(),
               seeds);
    fmt::print("{}\n", command_of(all[0], settings));
}

Json as_json(const std::vector<Prediction>& all, const std::vector<int>& won)
{
    Json json = Json::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& one = all[i];
        const bool reached = std::isfinite(one.mean());
        json.push_back({{"scheme", one.candidate.text()},
                        {"seconds", reached ? Json(one.mean()) : Json(nullptr)},
                        {"error", standard_error(one.seconds)},
                        {"round_seconds", one.round_seconds},
                        {"rounds", reached ? Json(one.rounds) : Json(nullptr)},
                        {"closed_form", one.closed ? Json(*one.closed) : Json(nullptr)},
                        {"fastest", won[i]}});
    }
    return json;
}

int advise(const Settings& given)
{
    refuse_launcher("advise");
    const auto settings = with_measured(given);
    if (!settings.on("workers"))
        throw BadInput("quorate advise needs --workers N, or --measured FILE");
    if (settings.on("target-loss") && !settings.on("data"))
        settings.refuse("target-loss",
                        ", but nothing is trained without --data: leave it out, or give data");
    const auto shared = shared_values(settings);
    const auto seeds = static_cast<int>(settings.integer("repeat", 1, 1000));
    const Candidate baseline{"uncoded", {}};
    const auto candidates = chosen_candidates(settings);
    // Options that are wrong for all candidates throw here. predict() would take them for a scheme
    // that cannot be made with these settings, and leave the scheme out.
    auto target = final_loss(baseline, settings, shared);
    if (settings.on("target-loss")) target = settings.real("target-loss", 0);
    std::vector<std::optional<Prediction>> predictions(candidates.size());
    in_parallel(candidates.size(), simulations_at_once(settings), [&](std::size_t i) {
        predictions[i] = predict(candidates[i], settings, shared, seeds, target);
    });
    std::vector<Prediction> all;
    for (auto& prediction : predictions)
        if (prediction) all.push_back(std::move(*prediction));
    if (all.empty())
        throw BadInput(
            "no scheme can be simulated with these options: try quorate simulate with them, "
            "which says why");
    std::ranges::stable_sort(all, {}, &Prediction::mean);
    const auto won = wins(all, seeds);
    if (settings.on("json"))
        fmt::print("{}\n", as_json(all, won).dump(2));
    else
        print_table(all, won, settings, seeds);
    return exit_done;
}

}  // namespace

Command advise_command()
{
    return {"advise",
            "ranks schemes and their redundancy by the time that simulations take to a target", "",
            options(), advise};
}

}  // namespace quorate
