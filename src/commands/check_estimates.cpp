// SPDX-License-Identifier: BSD-2-Clause
#include "commands/check_estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "fleet/replay_fleet.hpp"
#include "process/session.hpp"
#include "run/needed_memory.hpp"
#include "run/same_data.hpp"

namespace quorate {

namespace {

// Refuses what a trace must have to be checked. @throws BadInput
void check_recorded(const trace::Trace& trace, const std::string& path)
{
    if (trace.attributes.at("model").empty())
        throw BadInput(path + " is the trace of a dry run, which has no estimates: give another");
    if (trace.listed() != "all")
        throw BadInput(
            fmt::format("{} lists {} contributions, not all: make the run with "
                        "--trace-arrivals all --trace-weights",
                        path, trace.listed()));
    if (trace.iterates == 0)
        throw BadInput(path +
                       " keeps no models, at which gradients could be taken: make the run with "
                       "--evaluate-every 1");
}

// Refuses runs whose estimates do not follow from what the trace keeps. @throws BadInput
void check_training(const Training& training, const trace::Trace& trace, const std::string& path)
{
    const auto instead = fmt::format("check it by quorate simulate --replay {}", path);
    if (training.coding->needs.aggregator)
        throw BadInput(
            fmt::format("estimates of --scheme {} are no weighted sums, whose weights "
                        "{} could hold: {}",
                        training.settings.text("scheme"), path, instead));
    if (trace.weights.empty())
        throw BadInput(path + " holds no weights of estimates: make the run with --trace-weights");
    if (training.engine.keeps_inner)
        throw BadInput(
            fmt::format("local steps of {} go on with states of --inner-optimizer {}, "
                        "which it does not hold: {}",
                        path, training.settings.text("inner-optimizer"), instead));
    if (training.engine.keeps_unsent)
        throw BadInput(
            fmt::format("the workers of {} add what compression had left out before "
                        "(--error-feedback), which it does not hold: {}",
                        path, instead));
    if (training.precision() != Precision::binary64)
        throw BadInput(fmt::format("{} is of a model of floats, and only doubles are checked: {}",
                                   path, instead));
}

// Rounding of the sums that a run makes: those of groups travel.
double unit_of(Wire wire, const trace::Trace& trace)
{
    const int digits = recorded_groups(trace).empty() || wire == Wire::binary64 ? 53
                       : wire == Wire::binary32                                 ? 24
                                                                                : 8;
    return std::ldexp(1.0, -digits);
}

// Returns the rounds whose estimates can be computed: those all of whose points are known. Of a run
// that was killed, the weights of the last round may be missing.
std::vector<std::int64_t> possible_rounds(const trace::Trace& trace, const KeptModels& kept,
                                          const Needs& needs)
{
    auto versions = versions_used(trace);
    const auto last = std::ssize(trace.rounds) - (trace.status() == "completed" ? 0 : 1);
    std::vector<std::int64_t> rounds;
    for (std::int64_t round = 1; round <= last; ++round) {
        auto& of_round = versions[round];
        // Products of this round are of its point.
        if (!needs.coded.empty()) of_round.insert(kept.of_round(round - 1));
        if (std::ranges::all_of(of_round, [&](Version one) { return kept.has_point(one); }))
            rounds.push_back(round);
    }
    return rounds;
}

// Returns some of them, the first and the last among these, as evenly spread as can be.
std::set<std::int64_t> spread(const std::vector<std::int64_t>& all, std::int64_t most)
{
    const auto count = std::min<std::int64_t>(most, std::ssize(all));
    std::set<std::int64_t> some;
    for (std::int64_t i = 0; i < count; ++i)
        some.insert(all[static_cast<std::size_t>(
            count == 1
                ? 0
                : std::lround(static_cast<double>(i) * static_cast<double>(std::ssize(all) - 1) /
                              static_cast<double>(count - 1)))]);
    return some;
}

}  // namespace

EstimateCheck check_estimates(const trace::Trace& trace, const std::string& path,
                              const std::string& data, std::int64_t most)
{
    check_same_data(DataSet(data), trace.text(data_attribute), path, "give its data set");
    check_recorded(trace, path);
    const auto settings = with_options_of(
        trace, make_settings(simulation_options(), {{"replay", path}, {"data", data}}));
    start_mpi();
    auto training = build_training(settings, 0);
    check_training(training, trace, path);
    check_memory_of_simulation(training);
    const auto optimizers = begin_training(training);
    const KeptModels kept(path, trace, [&training] { return begin_training(training); });
    if (kept.tells_nothing())
        throw BadInput(
            fmt::format("the gradients of --optimizer {} are taken at points that no "
                        "trace keeps: check {} by quorate simulate --replay {}",
                        training.settings.text("optimizer"), path, path));
    const auto& needs = training.coding->needs;
    const auto possible = possible_rounds(trace, kept, needs);
    if (possible.empty())
        throw BadInput(path +
                       " keeps the points of no round's gradients: make the run with "
                       "--evaluate-every 1");
    EstimateCheck check{{}, std::ssize(possible), std::ssize(trace.rounds)};
    const auto sample = spread(possible, most);

    const auto computing = training.computing();
    Recipes recipes(needs, training.byzantine, *training.data, computing);
    ReplayFleet fleet(recipes, trace, trace.workers.size());
    auto options = engine_options(training);
    options.rounds = *sample.rbegin();
    options.evaluate_every = 0;
    trace::NoSink nowhere;
    Engine engine(options, *training.coding->scheme, fleet, optimizers, nowhere);
    engine.replace_estimates([&](ComputedEstimates& computed) {
        return std::make_unique<CheckedEstimates>(computed, trace, kept,
                                                  unit_of(training.wire, trace), training.wire,
                                                  sample, check.rounds);
    });
    engine.run(never_stop, {});
    return check;
}

}  // namespace quorate
