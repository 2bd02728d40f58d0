// SPDX-License-Identifier: BSD-2-Clause
// quorate tune: cross-validation over a grid of options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "commands/progress.hpp"
#include "process/launch.hpp"
#include "process/session.hpp"
#include "run/initialiser.hpp"
#include "run/output.hpp"
#include "run/quality_words.hpp"
#include "run/training.hpp"
#include "study/cross_validation.hpp"
#include "transport/mpi_endpoint.hpp"

namespace quorate {

namespace {

// The options of runs that trials have, too: a trial trains without stragglers.
constexpr const char* of_trials[] = {"data",   "model", "optimizer", "step", "schedule",
                                     "warmup", "clip",  "batch",     "l2",   "l1",
                                     "rounds", "init",  "seed"};

std::vector<Option> tune_options()
{
    std::vector<Option> all = {
        {"grid", "NAME=V:V:...,...", "",
         "values of options to try, in all combinations: l2=1e-5..1e-1x5,step=0.1:1; A..BxN "
         "is N values from A to B at equal ratios, 1..5 whole numbers"},
        {"folds", "K", "5",
         "each of K parts of the training rows in turn is held out; --seed draws them, with as "
         "many "
         "rows of each class"},
        {"metric", "NAME", "",
         "what decides, its mean over the folds: loss, accuracy, auc, f1, mse; default: loss"},
        {"workers", "N", "1",
         "deals the training rows to N workers, tunes each on its own rows, and averages the "
         "models that they train on them; 1: tunes on all rows together"},
        {"average", "FILE", "", "HDF5 with that average, as --init takes it; default: none"},
        {"output", "FILE", "", "CSV with a line for each fold of each point; default: none"}};
    std::set<std::string> known(std::begin(of_trials), std::end(of_trials));
    for (const auto& entry : models())
        for (const auto& option : entry.options) known.insert(option.name);
    for (const auto& entry : optimizers())
        for (const auto& option : entry.options) known.insert(option.name);
    for (const auto& option : training_options())
        if (known.contains(option.name)) all.push_back(option);
    std::ranges::find(all, "rounds", &Option::name)->fallback = "100";
    return all;
}

using Metric = double Quality::*;

struct Measure {
    std::string name;
    Metric metric;
    bool less_is_better;
};

Measure measure_of(const Settings& settings)
{
    const std::vector<Measure> known = {{"loss", &Quality::loss, true},
                                        {"accuracy", &Quality::accuracy, false},
                                        {"auc", &Quality::auc, false},
                                        {"f1", &Quality::f1, false},
                                        {"mse", &Quality::mse, true}};
    if (!settings.on("metric")) return known[0];
    const auto& name = settings.one_of("metric", names(known));
    return *std::ranges::find(known, name, &Measure::name);
}

// @throws BadInput if no model has the metric, or not on every fold
void check_metric(const Settings& settings, const Trials& trials, const Measure& measure)
{
    if (!trials.has(measure.metric))
        settings.refuse("metric", fmt::format(", which models of these labels do not have: use {}",
                                              trials.has(&Quality::accuracy) ? "loss or accuracy"
                                                                             : "loss or mse"));
    const auto [name, rows] = trials.scarcest();
    const auto folds = trials.all_folds();
    if (rows >= folds) return;
    const auto possible = rows / trials.workers();
    if (measure.metric == &Quality::auc)
        settings.refuse("metric",
                        fmt::format(", but class {} has {} training rows, so that some of {} folds "
                                    "hold one class only and have no AUC: use {}another metric",
                                    name, rows, folds,
                                    possible > 1 ? fmt::format("--folds {}, or ", possible) : ""));
}

// Says that folds lack a class. @return an empty text if none does
std::string missing_class(const Trials& trials)
{
    const auto [name, rows] = trials.scarcest();
    const auto folds = trials.all_folds();
    if (rows >= folds) return "";
    return fmt::format(
        "class {} has {} training rows, fewer than the {} folds, so some folds hold "
        "none of it: use fewer --folds, or more rows",
        name, rows, folds);
}

// Says how many trials there are: "50 trials: l2 5 x step 2 x 5 folds". Of a list that could be
// meant as a range it says how that is written.
std::string trials_in_words(const std::vector<GridOption>& grid, const Trials& trials)
{
    auto text = fmt::format("{} trials:", trials.count());
    std::string ranges;
    for (const auto& [name, values] : grid) {
        text += fmt::format(" {} {} x", name, values.size());
        const double first = to_real(values.front()).value_or(0);
        const double last = to_real(values.back()).value_or(0);
        if (values.size() != 2 || first <= 0 || last < 10 * first) continue;
        ranges += fmt::format(
            "; {0}={1}:{2} is two values, a range of five at equal ratios is "
            "{0}={1}..{2}x5",
            name, values[0], values[1]);
    }
    const auto workers = trials.workers() > 1 ? fmt::format(" x {} workers", trials.workers()) : "";
    return fmt::format("{} {} folds{}{}", text, trials.folds(), workers, ranges);
}

struct Mean {
    double value = 0, deviation = 0;
};

Mean mean_of(std::span<const Quality> folds, Metric metric)
{
    Mean mean;
    const auto count = static_cast<double>(folds.size());
    for (const auto& one : folds) mean.value += one.*metric / count;
    for (const auto& one : folds)
        mean.deviation += (one.*metric - mean.value) * (one.*metric - mean.value) / (count - 1);
    mean.deviation = std::sqrt(mean.deviation);
    return mean;
}

// Says which of the best values are the least or the greatest of several numbers: better ones may
// lie beyond. @return an empty text if none is
std::string at_ends(const std::vector<GridOption>& grid, const Choice& best)
{
    std::vector<std::string> found;
    for (const auto& [name, values] : grid) {
        std::vector<double> numbers;
        for (const auto& value : values)
            if (const auto number = to_real(value)) numbers.push_back(*number);
        const auto at = std::ranges::find(best, name, &Choice::value_type::first);
        if (numbers.size() < std::max<std::size_t>(values.size(), 2) || at == best.end()) continue;
        const auto [least, greatest] = std::ranges::minmax(numbers);
        const double value = to_real(at->second).value_or(0);
        if (value != 0 && (value == least || value == greatest))
            found.push_back(name + " " + at->second);
    }
    return found.empty() ? ""
                         : fmt::format(
                               "{} at an end of the grid: try values beyond, or a better "
                               "one may be missed",
                               fmt::join(found, " and "));
}

std::string columns_of(const Trials& trials)
{
    std::string line = trials.workers() > 1 ? "worker," : "";
    for (const auto& [name, value] : trials.points()[0]) line += name + ',';
    return line + "fold,loss,accuracy,auc,f1,mse";
}

void write_csv(const std::string& path, const Trials& trials, const std::vector<Quality>& results)
{
    auto text = columns_of(trials) + '\n';
    const auto folds = static_cast<std::size_t>(trials.folds());
    const auto points = trials.points().size();
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (trials.workers() > 1) text += fmt::format("{},", i / folds / points);
        for (const auto& [name, value] : trials.points()[i / folds % points]) text += value + ',';
        const auto& q = results[i];
        text +=
            fmt::format("{},{},{},{},{},{}\n", i % folds, q.loss, q.accuracy, q.auc, q.f1, q.mse);
    }
    write_file(path, text);
}

// Prints the points with their results, unless quiet, and the best one.
// @param results  of the trials of one worker  @param who  begins the lines
// @return the number of the best point  @throws Failure if there is none
std::size_t print_points(const Trials& trials, std::span<const Quality> results,
                         const Measure& measure, const std::string& who, bool quiet)
{
    const auto folds = static_cast<std::size_t>(trials.folds());
    std::size_t best = 0;
    std::vector<Mean> means;
    for (std::size_t i = 0; i < trials.points().size(); ++i) {
        means.push_back(mean_of(results.subspan(i * folds, folds), measure.metric));
        const double value = means[i].value, leader = means[best].value;
        if (std::isnan(leader) || (measure.less_is_better ? value < leader : value > leader))
            best = i;
        if (!quiet)
            fmt::print("{}{} {:.6f} +- {:.6f} {}\n", who, measure.name, value, means[i].deviation,
                       words_of(trials.points()[i]));
    }
    if (std::isnan(means[best].value))
        throw Failure(
            fmt::format("{}no trial has a finite {}: use smaller steps, or another "
                        "metric",
                        who, measure.name));
    fmt::print("{}best: {} {:.6f} with{}\n", who, measure.name, means[best].value,
               words_of(trials.points()[best]));
    return best;
}

// Trains a model for each worker on its own rows, with its best point, and prints how the mean of
// the models does on the test rows.
void average(const Settings& settings, Trials& trials, const std::vector<std::size_t>& best)
{
    std::vector<double> mean;
    for (int worker = 0; worker < trials.workers(); ++worker) {
        const auto point = static_cast<std::int64_t>(best[static_cast<std::size_t>(worker)]);
        const auto model = trials.model(worker, point);
        mean.resize(model.size());
        for (std::size_t i = 0; i < model.size(); ++i) mean[i] += model[i] / trials.workers();
    }
    if (settings.on("average")) write_average(settings.text("average"), mean);
    const auto words = quality_words(trials.tested(mean, static_cast<std::int64_t>(best[0])));
    fmt::print(
        "average of {} models{}\n", trials.workers(),
        words.empty() ? "; there are no test rows to score it on" : " on the test rows" + words);
}

int tune(const Settings& settings)
{
    start_mpi();
    transport::MpiEndpoint endpoint;
    std::optional<Measure> measured;
    std::vector<GridOption> grid;
    std::optional<Trials> made;
    const bool good = all_agree([&] {
        if (!settings.on("data"))
            throw BadInput("quorate tune needs --data FILE: make one with 'quorate import'");
        measured = measure_of(settings);
        grid = grid_options(settings);
        made.emplace(settings, points_of(grid));
        check_metric(settings, *made, *measured);
        if (settings.on("output")) check_text_output(settings, "output", columns_of(*made));
        if (settings.on("average") && made->workers() == 1)
            settings.refuse("average",
                            ", but one model has no average: give --workers N, or leave "
                            "it out");
        if (settings.on("average")) check_output(settings, "average", "average");
    });
    if (!good) return exit_bad_input;
    auto& trials = *made;
    const auto& measure = *measured;
    const bool quiet = settings.on("quiet");
    if (const auto warning = missing_class(trials); endpoint.rank() == 0 && !warning.empty())
        log(LogLevel::warning, warning);
    if (endpoint.rank() == 0) log(LogLevel::note, trials_in_words(grid, trials));
    WorkProgress progress(quiet || endpoint.rank() != 0);
    const auto results = cross_validate(endpoint, trials, [&](std::int64_t done) {
        progress.show([&](Seconds) { return fmt::format("trial {}/{}", done, trials.count()); });
    });
    progress.finish();
    if (endpoint.rank() != 0) return exit_done;
    if (settings.on("output")) write_csv(settings.text("output"), trials, results);
    const auto each = results.size() / static_cast<std::size_t>(trials.workers());
    std::vector<std::size_t> best;
    for (int worker = 0; worker < trials.workers(); ++worker) {
        const auto own = std::span(results).subspan(best.size() * each, each);
        const auto who = trials.workers() > 1 ? fmt::format("worker {}: ", worker) : "";
        best.push_back(print_points(trials, own, measure, who, quiet));
        if (const auto ends = at_ends(grid, trials.points()[best.back()]); !ends.empty())
            log(LogLevel::note, who + ends);
    }
    if (trials.workers() > 1) average(settings, trials, best);
    return exit_done;
}

}  // namespace

Command tune_command()
{
    return {.name = "tune",
            .text = "cross-validation over a grid of options; alone or under mpiexec",
            .options = tune_options(),
            .run = tune,
            .ranks = true,
            .first = {"grid", "data", "model", "optimizer", "step", "rounds", "l2", "folds",
                      "metric", "output"},
            .examples = {"quorate tune --data data.h5 --grid l2=1e-5..1e-1x5,step=0.1:1"}};
}

}  // namespace quorate
