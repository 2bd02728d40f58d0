// SPDX-License-Identifier: BSD-2-Clause
#include "driver/simulation.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.hpp"
#include "compute/scoring.hpp"
#include "driver/launch.hpp"
#include "driver/recorded.hpp"
#include "driver/session.hpp"
#include "driver/stop.hpp"
#include "driver/train.hpp"
#include "fleet/replay_fleet.hpp"
#include "fleet/virtual_fleet.hpp"

namespace quorate {

namespace {

// The options of the trace's run, but for those given now.
Settings with_options_of(const trace::Trace& trace, Settings settings)
{
    const auto path = settings.text("replay");
    for (const auto* name :
         {"workers", "delay", "slowdown", "row-time", "dry", "latency", "bandwidth", "port",
          "events", "standby", "load-time", "checkpoint", "resume"})
        if (settings.given(name))
            settings.refuse(name,
                            ", but --replay takes times and workers from its trace: leave "
                            "out one of the two");
    if (trace.listed() != "all")
        settings.refuse("replay",
                        ", which does not list all contributions: give a trace of "
                        "--trace-arrivals all");
    if (std::error_code error; std::filesystem::equivalent(path, settings.text("trace"), error))
        settings.refuse("trace", ", which is the trace that is replayed: give another name");
    settings = with_recorded(trace, path, std::move(settings));
    // The trace says what became of events, and a replayed run is soon repeated.
    for (const auto* name : {"events", "checkpoint", "resume"})
        settings.set(name, {"", path + ": ", false});
    settings.set("workers", {trace.attributes.at("workers"), path + ": ", true});
    if (!settings.given("rounds") || trace.status() != "completed")
        settings.set("rounds", {std::to_string(trace.rounds.size()), path + ": ", true});
    return settings;
}

// What is held for each worker, whatever the scheme: measured with uncoded, frc and agc.
void check_memory(const Settings& settings, std::int64_t workers)
{
    constexpr std::int64_t of_a_worker = 2500;
    const auto there = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    if (workers > there / of_a_worker)
        settings.refuse(
            "workers",
            fmt::format(", whose simulation would take {:.0f} GB of memory, and there are "
                        "{:.0f}: use at most {}",
                        1e-9 * of_a_worker * static_cast<double>(workers),
                        1e-9 * static_cast<double>(there), there / of_a_worker));
}

std::optional<DrySize> dry_size(const Settings& settings)
{
    if (!settings.on("dry")) {
        for (const auto* name : {"rows", "columns"})
            if (settings.given(name))
                settings.refuse(name, ", but the data set says it: leave it out, or add --dry");
        if (!settings.on("data"))
            throw BadInput(
                "quorate simulate needs --data FILE, or --dry to simulate times without data");
        return {};
    }
    for (const auto* name : options_of_data)
        if (settings.given(name))
            settings.refuse(name, ", but a dry run computes nothing: leave out one of the two");
    const auto workers = settings.integer("workers", 1, std::numeric_limits<int>::max());
    check_memory(settings, workers);
    return DrySize{settings.on("rows") ? settings.integer("rows", 1) : 1000 * workers,
                   settings.on("columns") ? settings.integer("columns", 0) : 0};
}

Network network_of(const Settings& settings)
{
    Network network;
    network.latency = settings.real("latency", 0);
    if (settings.on("bandwidth"))
        network.bandwidth = settings.real("bandwidth", std::numeric_limits<double>::min());
    network.shared_port = settings.one_of("port", {"shared", "separate"}) == "shared";
    return network;
}

}  // namespace

std::vector<Option> simulation_options()
{
    auto all = training_options();
    for (auto& option : all)
        if (option.name == "workers") option.text = "simulated workers";
    const std::vector<Option> own = {
        {"dry", "", "", "simulate times only: no data, no gradients"},
        {"rows", "N", "", "training rows of a dry run; default: 1000 a worker"},
        {"columns", "N", "", "elements of a dry run's messages; default: 0"},
        {"latency", "SECONDS", "0", "of each message"},
        {"bandwidth", "BYTES", "", "a second, of each link; default: messages take no time"},
        {"port", "shared|separate", "shared",
         "the coordinator's link: one message at a time each way, or one link for each worker"},
        {"load-time", "SECONDS", "0", "to load a training row, where a worker takes another place"},
        {"replay", "TRACE", "",
         "take options, arrivals and their times from a trace, and compute its iterates again"}};
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

int simulate(const Settings& given)
{
    if (launch_environment().size.value_or(1) > 1)
        throw BadInput("quorate simulate is one process: start it without a launcher");
    std::optional<trace::Trace> recorded;
    if (given.on("replay")) recorded = trace::read(given.text("replay"));
    const auto settings = recorded ? with_options_of(*recorded, given) : given;
    if (!settings.on("workers"))
        throw BadInput("quorate simulate needs --workers N, how many to simulate");
    const auto size = dry_size(settings);
    if (!size) start_mpi();
    const auto training = build_training(settings, 0, size);
    const auto network = network_of(settings);
    if (size && training.coding->needs.inner_product)
        settings.refuse("scheme",
                        ", which with these options looks at gradients, but a dry run has none: "
                        "leave out --dry");
    if (!recorded && settings.text("slowdown") != "none" && training.row_time == 0)
        settings.refuse("slowdown", ", but computing takes no time: give --row-time too");
    if (!recorded && training.coding->needs.limits_time && training.row_time == 0)
        settings.refuse("row-time",
                        ", but tasks of this scheme end with their time, in which any "
                        "number of rows would be computed: give the seconds of a row");
    const auto optimizers = build_optimizers(settings, training);
    stop_in(seconds_to_run(settings));
    const auto resumed = resumption(settings, training);
    if (resumed && resumed->completed) return exit_done;
    listen_for_signals(true);

    std::optional<Computing> computing;
    if (!size) computing.emplace(training.computing());
    auto recipes =
        size ? Recipes(training.coding->needs, training.coding->batches, training.byzantine,
                       training.columns)
             : Recipes(training.coding->needs, training.byzantine, *training.data, *computing);
    std::unique_ptr<Fleet> fleet;
    if (recorded)
        fleet = std::make_unique<ReplayFleet>(recipes, *recorded);
    else
        fleet = std::make_unique<VirtualFleet>(
            recipes, VirtualTimes{{training.row_time, *training.delays, *training.slowdowns},
                                  network,
                                  settings.real("timeout", 0),
                                  settings.real("load-time", 0),
                                  training.standby});
    return train(
        settings, training, *fleet, optimizers, recorded ? "replayed" : "virtual",
        [&](const auto& next, const auto& scored) {
            const auto rows = recipes.give_up_rows();
            evaluate_here(*training.data, *training.model, next, scored, rows.get());
        },
        resumed);
}

}  // namespace quorate
