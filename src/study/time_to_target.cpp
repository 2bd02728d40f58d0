// SPDX-License-Identifier: BSD-2-Clause
#include "study/time_to_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "data/data_set.hpp"
#include "model/model.hpp"
#include "run/training.hpp"

namespace quorate {

namespace {

constexpr double unreached = std::numeric_limits<double>::infinity();

Options values_of(const Candidate& candidate, Options values)
{
    for (const auto& [name, value] : candidate.options) values.insert_or_assign(name, value);
    values.insert_or_assign("scheme", candidate.scheme);
    if (!candidate.way.empty()) values.insert_or_assign("aggregate", candidate.way);
    return values;
}

// Simulates a candidate with one seed, until it has reached the target, if there is one. The trace
// lists no contributions, which nothing here reads.
trace::Trace simulated(const Candidate& candidate, const Options& shared, std::int64_t seed,
                       std::int64_t rounds, std::optional<double> target,
                       const std::atomic<bool>& stop, std::optional<RowUse>* use = nullptr)
{
    auto values = values_of(candidate, shared);
    values.insert_or_assign("seed", std::to_string(seed));
    values.insert_or_assign("rounds", std::to_string(rounds * candidate.updates));
    // Models are scored as often as those of others: with each answer of all workers.
    if (const auto every = values.find("evaluate-every");
        candidate.updates > 1 && !values.contains("dry"))
        values.insert_or_assign(
            "evaluate-every",
            std::to_string(candidate.updates *
                           (every == values.end() ? 1 : to_integer(every->second).value_or(1))));
    values.insert_or_assign("trace-arrivals", "none");
    values.insert_or_assign("on-divergence", "ignore");
    values.insert_or_assign("stop-at", target && std::isfinite(*target)
                                           ? fmt::format("train-loss={}", *target)
                                           : "none");
    return simulate(make_settings(simulation_options(), values), stop, {}, use);
}

// Returns e / n of a round: its decode error over the number of partitions. A round without an
// error that takes only some samples gets the e / n of one that takes as many in whole partitions.
double error_of_weights(const trace::Round& round, double parts, double rows)
{
    if (round.decode_error > 0) return round.decode_error / parts;
    const auto samples = static_cast<double>(round.samples);
    return samples > 0 && samples < rows ? (rows - samples) / samples : 0;
}

// Returns the rounds of a candidate that make as much progress as --rounds exact ones; see
// predict() for the model.
double rounds_needed(const trace::Trace& trace, const Settings& settings, double rows)
{
    const auto n = static_cast<double>(settings.integer("workers", 1));
    const double heterogeneity = settings.real("heterogeneity", 0);
    double progress = 0, staleness = 0;
    for (const auto& round : trace.rounds) {
        progress += 1 / (1 + heterogeneity * error_of_weights(round, n, rows) / n);
        staleness += round.staleness_mean;
    }
    const auto done = static_cast<double>(trace.rounds.size());
    return static_cast<double>(settings.integer("rounds", 1)) * done / progress + staleness / done;
}

// Returns the mean seconds of a round by a closed form: the expected delay plus the time of the
// largest shard, or a share of both where nobody waits. Nothing if it is not known, or if messages
// take time or rounds take samples.
std::optional<double> closed_form(const trace::Trace& trace, const Settings& settings)
{
    const auto delay = trace.attributes.find("expected_delay");
    if (delay == trace.attributes.end() || settings.on("bandwidth") ||
        settings.seconds("latency") > 0 || settings.integer("batch", 0) > 0)
        return std::nullopt;
    std::int64_t most = 0;
    for (const auto& worker : trace.workers) most = std::max(most, worker.rows);
    return to_real(delay->second).value_or(0) +
           to_real(trace.attributes.at("expected_tasks")).value_or(1) *
               to_real(trace.attributes.at("row_time")).value_or(0) * static_cast<double>(most);
}

}  // namespace

std::vector<Candidate> candidates(int workers, bool timed)
{
    std::vector<Candidate> all;
    for (const auto& entry : schemes())
        if (entry.properties.candidates)
            for (auto& choice : entry.properties.candidates(workers, timed))
                all.push_back({.scheme = entry.name,
                               .options = std::move(choice),
                               .paced = static_cast<bool>(entry.properties.pace)});
    return all;
}

Candidate at_its_pace(Candidate candidate, const Settings& settings, const Options& shared,
                      double more)
{
    auto values = values_of(candidate, shared);
    // Estimates are not exact, so that an optimiser which was not asked for would not be theirs.
    if (!settings.given("optimizer")) values.erase("optimizer");
    const auto given = make_settings(simulation_options(), values);
    const auto training = build_training(given, 1);
    const auto& entry = chosen(schemes(), given, "scheme");
    const auto pace = entry.properties.pace(given, training.workers);
    candidate.updates = std::max(1, static_cast<int>(std::lround(pace.updates)));
    const double share = std::min(1.0, more * training.estimates.stable_step / 2);
    const auto step = share * to_real(shared.at("step")).value();
    candidate.options.emplace_back("step", fmt::format("{:.3g}", step));
    if (const auto& optimizer = training.settings.text("optimizer");
        optimizer != shared.at("optimizer"))
        candidate.options.emplace_back("optimizer", optimizer);
    return candidate;
}

double CandidateTimes::mean() const
{
    return std::accumulate(seconds.begin(), seconds.end(), 0.0) /
           static_cast<double>(seconds.size());
}

CandidateTimes candidate_times(const Candidate& candidate,
                               const std::vector<TimeToTarget>& simulations)
{
    CandidateTimes mean{candidate};
    const auto count = static_cast<double>(simulations.size());
    for (const auto& one : simulations) {
        mean.seconds.push_back(one.seconds);
        mean.round_seconds += one.round_seconds / count;
        mean.rounds += one.rounds / count;
        mean.closed = one.closed;
        mean.exact &= one.exact;
        mean.way = one.way;
    }
    if (!simulations.empty()) mean.use = simulations.front().use;
    return mean;
}

std::optional<TimeToTarget> time_to_target(const Candidate& candidate, const Settings& settings,
                                           const Options& shared, int number,
                                           std::optional<double> target,
                                           const std::atomic<bool>& stop)
{
    // With a target, candidates that need more rounds than uncoded must have the time to reach it.
    const auto most = settings.integer("rounds", 1) * (target ? 2 : 1);
    std::optional<RowUse> use;
    const auto trace = simulated(candidate, shared, settings.integer("seed", 0) + number, most,
                                 target, stop, number == 0 ? &use : nullptr);
    if (stop) return std::nullopt;
    if (trace.rounds.empty()) throw BadInput(candidate.text() + " does no round");
    const double total = trace.rounds.back().time;
    TimeToTarget one{unreached, total / static_cast<double>(trace.rounds.size()), unreached,
                     closed_form(trace, settings), std::move(use)};
    one.way = trace.text("aggregate");
    const auto rows = to_real(trace.attributes.at("rows")).value_or(0);
    const auto batch = static_cast<double>(settings.integer("batch", 0));
    one.exact = std::ranges::all_of(trace.rounds, [&](const auto& round) {
        return round.decode_error == 0 && round.staleness_max == 0 &&
               static_cast<double>(round.samples) >= (batch > 0 ? batch : rows);
    });
    if (!target) {
        one.rounds = rounds_needed(trace, settings, rows);
        one.seconds = one.round_seconds * one.rounds;
        return one;
    }
    const auto at = std::ranges::find_if(
        trace.evaluations, [&](const auto& row) { return row.train_loss <= *target; });
    if (at != trace.evaluations.end()) {
        one.seconds = at->time;
        one.rounds = static_cast<double>(at->round);
    }
    return one;
}

FastestWay fastest_way(const Candidate& candidate, const Settings& settings, const Options& shared,
                       const std::atomic<bool>& stop)
{
    constexpr double as_fast = 0.99;  // times another: a simpler way is taken in its place
    const auto ways =
        ways_to_add_up(make_settings(simulation_options(), values_of(candidate, shared)));
    if (ways.size() == 1) return {ways[0]};
    auto values = shared;
    if (!values.contains("dry")) values.insert_or_assign("evaluate-every", "0");
    const auto rounds = std::min(rounds_of_ways, settings.integer("rounds", 1));
    FastestWay fastest;
    double least = unreached;
    for (const auto& way : ways) {
        auto one = candidate;
        one.way = way;
        auto trace = simulated(one, values, settings.integer("seed", 0), rounds, {}, stop);
        if (stop) return {};
        ++fastest.simulations;
        if (trace.rounds.empty()) continue;
        // The first rounds are not like the others where several are under way at a time.
        const auto first = static_cast<std::ptrdiff_t>(trace.rounds.size() / 2);
        const double began = first > 0 ? trace.rounds[first - 1].time : 0;
        trace.rounds.erase(trace.rounds.begin(), trace.rounds.begin() + first);
        const auto rows = to_real(trace.attributes.at("rows")).value_or(0);
        const double seconds = (trace.rounds.back().time - began) /
                               static_cast<double>(trace.rounds.size()) *
                               rounds_needed(trace, settings, rows);
        if (seconds >= as_fast * least) continue;
        fastest.way = way;
        least = seconds;
    }
    return fastest;
}

int simulations_at_once(const Settings& settings)
{
    if (!settings.on("data")) return usable_cores();
    const DataSet data(settings.text("data"));
    const auto model = chosen(models(), settings, "model").make(settings, data.shape());
    const auto every = std::max<std::int64_t>(1, settings.integer("evaluate-every", 0));
    const auto kept = 2 * settings.integer("rounds", 1) / every + 1;
    constexpr double copies = 4;  // of the rows, about: the workers' shards, and those for scores
    const double bytes = copies * data.training_bytes() +
                         8.0 * static_cast<double>(kept * model->parameters(data.columns()));
    const auto half = 0.5 * static_cast<double>(host_memory());
    return static_cast<int>(std::clamp<double>(half / bytes, 1, usable_cores()));
}

std::optional<double> final_loss(const Candidate& candidate, const Settings& settings,
                                 const Options& shared, const std::atomic<bool>& stop)
{
    const auto trace = simulated(candidate, shared, settings.integer("seed", 0),
                                 settings.integer("rounds", 1), {}, stop);
    if (!settings.on("data") || stop) return std::nullopt;
    if (trace.evaluations.empty())
        throw BadInput("--evaluate-every is 0, but losses are what is aimed at: leave it out");
    return trace.evaluations.back().train_loss;
}

}  // namespace quorate
