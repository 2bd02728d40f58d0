// SPDX-License-Identifier: BSD-2-Clause
#include "cli/training.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/median.hpp"
#include "base/text.hpp"
#include "cli/components.hpp"
#include "cli/initial.hpp"
#include "cli/output.hpp"
#include "trace/reader.hpp"
#include "trace/recorded_times.hpp"

namespace quorate {

namespace {

double l2_of(const Settings& settings, const DataSet& data)
{
    if (settings.text("l2") == "1/n") return 1.0 / static_cast<double>(data.rows(Split::train));
    if (!to_real(settings.text("l2")))
        settings.refuse("l2", ": give a number of at least 0, or 1/n");
    return settings.real("l2", 0);
}

// --row-time: seconds, or the median of what the workers of a trace took.
Seconds row_time_of(const Settings& settings)
{
    const auto& text = settings.text("row-time");
    if (to_real(text)) return settings.real("row-time", 0);
    if (!std::filesystem::exists(text))
        settings.refuse("row-time", ": give seconds a row, or a trace to take them from");
    std::vector<double> times;
    for (const auto& arrival : trace::read(text).arrivals)
        if (arrival.samples > 0)
            times.push_back(arrival.compute / static_cast<double>(arrival.samples));
    if (times.empty())
        settings.refuse("row-time", ", whose trace lists no contributions: give another one");
    return median(std::move(times));
}

Arrivals arrivals_of(const Settings& settings, std::int64_t expected, bool dry)
{
    constexpr std::int64_t many = 1'000'000;  // writing them would take longer than the dry run
    if (!settings.on("trace-arrivals"))
        return dry && expected > many ? Arrivals::none : Arrivals::all;
    const auto& word = settings.one_of("trace-arrivals", {"all", "used", "none"});
    return word == "all" ? Arrivals::all : word == "used" ? Arrivals::used : Arrivals::none;
}

// none, constant:SECONDS, ...
std::string delay_grammar()
{
    std::vector<std::string> forms;
    for (const auto& model : delays())
        forms.push_back(model.name + (model.arguments.empty() ? "" : ":") + model.arguments);
    return alternatives(forms);
}

}  // namespace

std::vector<Option> training_options()
{
    std::vector<Option> all = {
        {"data", "FILE", "", "data set, from 'quorate import' or 'quorate generate'"},
        {"trace", "FILE", "trace.h5", "where the trace goes; a trace that is there is replaced"},
        {"workers", "N", "", "workers; default: one for each rank but the coordinator's"},
        {"scheme", "NAME", "uncoded",
         "who computes what and when to stop waiting; see quorate list schemes"},
        {"model", "NAME", "logistic", "what is trained; see quorate list models"},
        {"optimizer", "NAME", "gd", "update rule; see quorate list optimizers"},
        {"step", "ETA", "1", "step size"},
        {"l2", "A|1/n", "1/n",
         "the objective is the mean loss + A |w|^2; 1/n: one over the training rows"},
        {"rounds", "N", "100", "model updates"},
        {"init", "zero|normal:SD|FILE", "zero", "initial model; FILE: the final one of a trace"},
        {"seed", "N", "0", "key of all random streams"},
        {"delay", "MODEL", "none",
         "seconds each worker waits before a task: " + delay_grammar() +
             "; see quorate list delays"},
        {"slowdown", "MODEL", "none",
         "factor of each worker's computing time, drawn from the same models as --delay; below 1 "
         "it "
         "needs --row-time"},
        {"row-time", "SECONDS|FILE", "0",
         "seconds that a worker takes for each row at least; FILE: as in that trace"},
        liars_option(),
        {"evaluate-every", "N", "1",
         "score the model of every N-th round, and the last, after the run; 0: none"},
        {"trace-arrivals", "all|used|none", "",
         "contributions that the trace lists; default: all, but none if a dry run has a million"},
        {"log", "workers", "", "print a line for each contribution, as its worker measured it"},
    };
    for (auto& option : component_options()) all.push_back(std::move(option));
    return all;
}

Training build_training(const Settings& settings, int default_workers,
                        const std::optional<DrySize>& dry)
{
    refuse_unused_options(settings);
    Training training{};
    if (!dry) {
        if (!settings.on("data"))
            throw BadInput(
                "quorate run needs --data FILE: make one with 'quorate import' or 'quorate "
                "generate'");
        training.data.emplace(settings.text("data"));
    }
    training.rows = dry ? dry->rows : training.data->rows(Split::train);
    training.columns = dry ? dry->columns : training.data->columns();
    training.workers =
        settings.on("workers")
            ? static_cast<int>(settings.integer("workers", 1, std::numeric_limits<int>::max()))
            : default_workers;
    const auto n = training.workers;
    if (n > training.rows)
        throw BadInput(fmt::format(
            "{} has {} training rows, too few for {} workers: use --workers {} or fewer",
            dry ? "the dry run" : training.data->path(), training.rows, n, training.rows));
    training.seed = static_cast<std::uint64_t>(settings.integer("seed", 0));
    training.scheme =
        chosen(schemes(), settings, "scheme").make(settings, {n, training.rows, training.seed});
    if (!dry) training.model = chosen(models(), settings, "model").make(settings);
    const auto delay_model = [&](const DelaySetup& setup) {
        return chosen(delays(), settings, setup.option).make(settings, setup);
    };
    training.delays =
        delay_model({.seed = training.seed, .machines = n, .read_times = trace::read_times});
    training.slowdowns = delay_model({.option = "slowdown",
                                      .neutral = 1,
                                      .purpose = Purpose::slowdown,
                                      .seed = training.seed,
                                      .machines = n,
                                      .read_times = trace::read_times});
    training.row_time = row_time_of(settings);
    training.liars = liars(settings, training.seed, n);
    training.needs = training.scheme->needs();
    training.l2 = dry ? 0 : l2_of(settings, *training.data);
    const auto rounds = settings.integer("rounds", 1);
    training.engine = {.rounds = rounds,
                       .step = settings.real("step", 0),
                       .evaluate_every = dry ? 0 : settings.integer("evaluate-every", 0),
                       .arrivals = arrivals_of(settings, rounds * n, dry.has_value()),
                       .seed = training.seed};
    return training;
}

std::unique_ptr<Optimizer> build_optimizer(const Settings& settings, const Training& training)
{
    if (settings.on("log")) settings.one_of("log", {"workers"});
    check_output(settings, "trace", "trace");
    return chosen(optimizers(), settings, "optimizer")
        .make(settings, initial_model(settings, training.seed, training.width()), training.l2);
}

}  // namespace quorate
