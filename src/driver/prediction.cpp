// SPDX-License-Identifier: BSD-2-Clause
#include "driver/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "data/data_set.hpp"
#include "driver/simulation.hpp"
#include "model/model.hpp"

namespace quorate {

namespace {

constexpr double unreached = std::numeric_limits<double>::infinity();

trace::Trace simulated(const Candidate& candidate, Options values, std::int64_t seed,
                       std::int64_t rounds)
{
    for (const auto& [name, value] : candidate.options) values.insert_or_assign(name, value);
    values.insert_or_assign("scheme", candidate.scheme);
    values.insert_or_assign("seed", std::to_string(seed));
    values.insert_or_assign("rounds", std::to_string(rounds));
    values.insert_or_assign("trace-arrivals", "none");
    return simulate(make_settings(simulation_options(), values));
}

double harmonic(int n)
{
    double sum = 0;
    for (int i = 1; i <= n; ++i) sum += 1.0 / i;
    return sum;
}

// e / n of a round; of one that takes some samples of all partitions, what as many whole ones would have.
double error_of_weights(const trace::Round& round, double parts, double rows)
{
    if (round.decode_error > 0) return round.decode_error / parts;
    const auto samples = static_cast<double>(round.samples);
    return samples > 0 && samples < rows ? (rows - samples) / samples : 0;
}

// Rounds to as much progress as so many exact ones make.
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

// Mean seconds a round, where delays are exponential and nothing else takes random time.
std::optional<double> closed_form(const Candidate& candidate, const Settings& settings, double rows)
{
    const auto& delay = settings.text("delay");
    const auto colon = delay.find(':');
    if (delay.substr(0, colon) != "exponential" || settings.text("slowdown") != "none" ||
        settings.on("bandwidth") || settings.real("latency", 0) > 0 ||
        settings.integer("batch", 0) > 0)
        return std::nullopt;
    const auto mean = to_real(delay.substr(colon + 1)).value_or(0);
    const auto n = static_cast<int>(settings.integer("workers", 1));
    int s = 0;
    for (const auto& [name, value] : candidate.options)
        if (name == "stragglers") s = static_cast<int>(to_integer(value).value_or(0));
    const bool coded = candidate.scheme == "frc" || candidate.scheme == "cyclic";
    const double compute =
        settings.real("row-time", 0) * rows / n * (coded ? static_cast<double>(s + 1) : 1.0);
    if (candidate.scheme == "uncoded") return compute + mean * harmonic(n);
    if (candidate.scheme == "ignore" || candidate.scheme == "cyclic")
        return compute + mean * (harmonic(n) - harmonic(s));
    if (candidate.scheme == "frc") return compute + mean * harmonic(n / (s + 1)) / (s + 1);
    return std::nullopt;
}

}  // namespace

std::string Candidate::text() const
{
    std::string line = scheme;
    for (const auto& [name, value] : options) line += fmt::format(" --{} {}", name, value);
    return line;
}

std::vector<Candidate> candidates(int workers, bool timed)
{
    std::vector<Candidate> all = {{"uncoded", {}}};
    const auto number = [](int value) { return std::to_string(value); };
    for (int s = 1; s <= workers / 2; s *= 2) {
        const auto stragglers = std::pair<std::string, std::string>("stragglers", number(s));
        all.push_back({"ignore", {stragglers}});
        if (s >= workers / 2) continue;
        all.push_back({"cyclic", {stragglers}});
        all.push_back({"pgc-cyclic", {stragglers}});
    }
    for (int copies = 2; copies <= workers / 2; ++copies) {
        if (workers % copies != 0 || copies > 16) continue;
        const auto stragglers =
            std::pair<std::string, std::string>("stragglers", number(copies - 1));
        all.push_back({"frc", {stragglers}});
        for (const int collect : {workers / 2, 3 * workers / 4})
            all.push_back({"agc", {stragglers, {"collect", number(collect)}}});
    }
    // Straggling in so many exchanges of a window of so many.
    constexpr std::pair<int, int> bursts[] = {{1, 2}, {1, 3}, {2, 3}};
    for (int late = std::max(1, workers / 16); late < workers / 2; late *= 2)
        for (const auto& [burst, window] : bursts)
            for (const auto* scheme : {"sr-sgc", "m-sgc"})
                all.push_back({scheme,
                               {{"burst", number(burst)},
                                {"window", number(window)},
                                {"lambda", number(late)}}});
    if (timed)
        for (const auto* way : {"auto", "match"}) all.push_back({"amb", {{"compute-time", way}}});
    return all;
}

double Prediction::mean() const
{
    return std::accumulate(seconds.begin(), seconds.end(), 0.0) /
           static_cast<double>(seconds.size());
}

double standard_error(const std::vector<double>& values)
{
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    if (values.size() < 2 || !std::isfinite(mean)) return 0;
    double square = 0;
    for (const double one : values) square += (one - mean) * (one - mean);
    return std::sqrt(square / (n - 1) / n);
}

std::optional<Prediction> predict(const Candidate& candidate, const Settings& settings,
                                  const Options& shared, int seeds, std::optional<double> target)
{
    Prediction prediction{candidate, {}, 0, 0, {}};
    const auto first = settings.integer("seed", 0);
    for (int i = 0; i < seeds; ++i) {
        trace::Trace trace;
        try {
            // Those that need more rounds than uncoded are to reach the target too.
            const auto rounds = settings.integer("rounds", 1) * (target ? 2 : 1);
            trace = simulated(candidate, shared, first + i, rounds);
        } catch (const BadInput&) {
            return std::nullopt;
        }
        if (trace.rounds.empty()) return std::nullopt;
        const auto rows = to_real(trace.attributes.at("rows")).value_or(0);
        const double total = trace.rounds.back().time;
        const auto done = static_cast<double>(trace.rounds.size());
        prediction.round_seconds += total / done / seeds;
        if (target) {
            const auto at = std::ranges::find_if(
                trace.evaluations, [&](const auto& row) { return row.train_loss <= *target; });
            const bool there = at != trace.evaluations.end();
            prediction.seconds.push_back(there ? at->time : unreached);
            prediction.rounds += (there ? static_cast<double>(at->round) : unreached) / seeds;
        } else {
            const double rounds = rounds_needed(trace, settings, rows);
            prediction.seconds.push_back(total / done * rounds);
            prediction.rounds += rounds / seeds;
        }
        prediction.closed = closed_form(candidate, settings, rows);
    }
    return prediction;
}

int simulations_at_once(const Settings& settings)
{
    if (!settings.on("data")) return usable_cores();
    const DataSet data(settings.text("data"));
    const auto model = chosen(models(), settings, "model").make(settings, data.shape());
    const auto every = std::max<std::int64_t>(1, settings.integer("evaluate-every", 0));
    const auto kept = 2 * settings.integer("rounds", 1) / every + 1;
    constexpr double copies = 4;  // of the rows: those of the scheme, and those that are scored
    const double bytes = copies * data.training_bytes() +
                         8.0 * static_cast<double>(kept * model->parameters(data.columns()));
    const auto half = 0.5 * static_cast<double>(host_memory());
    return static_cast<int>(std::clamp<double>(half / bytes, 1, usable_cores()));
}

std::optional<double> final_loss(const Candidate& candidate, const Settings& settings,
                                 const Options& shared)
{
    const auto trace =
        simulated(candidate, shared, settings.integer("seed", 0), settings.integer("rounds", 1));
    if (!settings.on("data")) return std::nullopt;
    if (trace.evaluations.empty())
        throw BadInput("--evaluate-every is 0, but losses are what is aimed at: leave it out");
    return trace.evaluations.back().train_loss;
}

}  // namespace quorate
