// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "data/data_set.hpp"
#include "parts/components.hpp"
#include "run/aggregation.hpp"
#include "run/defaults.hpp"
#include "run/needed_memory.hpp"
#include "run/training.hpp"

namespace quorate {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t some_rounds = 50;  // that are simulated at most

// Returns the options that do not change how long a round takes: those of models, optimisers and
// schedules, and those of what happens beside the rounds. A dry simulation does without them.
std::set<std::string> without_time()
{
    constexpr auto beside =
        "trace checkpoint checkpoint-every memory-checkpoint-every resume log quiet verbose rounds "
        "config step momentum evaluate resilient timeout dry stop-before walltime trace-arrivals "
        "overwrite unsaved trace-weights stop-at stop-for patience";
    std::set<std::string> all;
    for (const auto& name : split(beside, ' ')) all.insert(name);
    all.insert(std::begin(options_of_data), std::end(options_of_data));
    for (const auto& kind : run_components()) {
        if (kind.option == "scheme" || kind.option == "delay" || kind.option == "slowdown")
            continue;
        all.insert(kind.option);
        for (const auto& component : kind.all)
            for (const auto& option : component.options) all.insert(option.name);
    }
    return all;
}

// What a data set tells about times and memory.
struct Size {
    std::int64_t rows, columns;
    double entries_per_row, bytes;  // bytes: of the training rows in memory
};

// @return nothing if the row names no data set, or it is not there yet
std::optional<Size> size_of(const ManifestRow& row, const std::string& folder)
{
    const auto path = fs::path(folder) / row.value("data");
    if (row.value("data").empty() || !fs::exists(path)) return std::nullopt;
    const DataSet data(path.string());
    return Size{data.rows(Split::train), data.columns(), data.shape().entries_per_row,
                data.training_bytes()};
}

// Makes the settings of a dry simulation of a run.
// @param size   of its data set; none: it is not there yet
// @param hosts  that its workers are on
Settings simulation(const ManifestRow& row, const std::optional<Size>& size, std::int64_t rounds,
                    std::int64_t hosts)
{
    // What the run does not say is guessed: messages of 20 us and 1 GB/s, and cores that take 2 ns
    // for each entry of a row, or 1 us a row if the data set is not there.
    Options values = {
        {"dry", "on"}, {"rounds", std::to_string(rounds)}, {"trace-arrivals", "none"}};
    const auto add = [&](const std::string& name, const std::string& value) {
        if (row.value(name).empty()) values.emplace(name, value);
    };
    const auto workers = to_integer(row.value("workers")).value_or(1);
    values.emplace("nodes", std::to_string(std::clamp<std::int64_t>(hosts, 1, workers)));
    add("row-time", size ? fmt::format("{:g}", 2e-9 * size->entries_per_row) : "1e-6");
    if (size) {
        add("rows", std::to_string(size->rows));
        add("columns", std::to_string(size->columns));
        add("latency", "2e-5");
        add("bandwidth", "1e9");
    } else {
        // It has at least as many rows as the run takes samples.
        std::int64_t most = 0;
        for (const auto* name : {"batch", "micro-batch", "samples-cap"})
            most = std::max(most, to_integer(row.value(name)).value_or(0));
        if (most > 1000 * workers) add("rows", std::to_string(most));
    }
    const auto known = simulation_options();
    const auto others = without_time();
    for (const auto& [name, value] : row.options) {
        const auto option = std::ranges::find(known, name, &Option::name);
        if (option == known.end() || others.contains(name)) continue;
        values.insert_or_assign(name, value);
    }
    return make_settings(known, values);
}

// Whether --aggregate auto may share out the parameters of a run.
bool may_choose_shares(const ManifestRow& row)
{
    const auto known = run_options();
    Options values;
    for (const auto& [name, value] : row.options)
        if (std::ranges::count(known, name, &Option::name)) values.insert_or_assign(name, value);
    return may_choose_shares(make_settings(known, values));
}

// Simulates the first rounds of a run, with contributions added up where --aggregate has them.
trace::Trace simulated(const ManifestRow& row, const std::optional<Size>& size, std::int64_t rounds,
                       std::int64_t hosts)
{
    try {
        auto settings = simulation(row, size, rounds, hosts);
        auto trace = simulate(settings);
        // The simulation is not told all that forbids shares.
        if (trace.text("aggregate") != "shares" || settings.text("aggregate") != "auto" ||
            may_choose_shares(row))
            return trace;
        settings.set("aggregate", {"node", "", true});
        return simulate(settings);
    } catch (const BadInput& wrong) {
        throw BadInput(row.origin + wrong.what());
    }
}

// Bytes that the ranks of a host take.
struct OfHost {
    double rows = 0;    // of data
    double ranks = 0;   // for each rank, whatever it does
    double beside = 0;  // iterates, at the coordinator
    double share = 0;   // of the parameters, at its owner
    double kept = 0;    // contributions, their sums and their points
    double all() const { return rows + ranks + beside + share + kept; }
};

constexpr double of_a_rank = 150e6, of_iterates = 420e6;
constexpr double vectors_of_a_rank = 6;
// Of the owner of a share: whole points, and vectors of the share with any optimiser.
constexpr double points_of_owner = 2, vectors_of_share = 7;

// Bytes that a run keeps beyond a step.
struct Kept {
    double contributions, sums, points;
};

Kept kept_by(const trace::Trace& run, const Size& size)
{
    std::int64_t most_rows = 0;
    for (const auto& worker : run.workers) most_rows = std::max(most_rows, worker.rows);
    const auto number = [&](const char* name) { return run.header.integer.at(name); };
    return {bytes_of_kept(number("kept"), size.columns, most_rows, size.entries_per_row),
            bytes_of_sums(number("slots"), size.columns),
            bytes_of_kept(number("kept_points"), size.columns, 0, 0)};
}

// Returns what the ranks of each host take. By node and over shares contributions stay where they
// were computed, each host has their points, and no sums are kept.
// @param scores  whether models are scored, for which the coordinator holds whole ones
std::vector<OfHost> memory_of_hosts(const trace::Trace& run, const Size& size, bool scores)
{
    std::int64_t last = 0;
    for (const auto& worker : run.workers) last = std::max(last, worker.node);
    std::vector<OfHost> hosts(static_cast<std::size_t>(last) + 1);
    const auto kept = kept_by(run, size);
    const auto& way = run.text("aggregate");
    const double vector = 8.0 * static_cast<double>(size.columns);
    const double of_rank = of_a_rank + vectors_of_a_rank * vector;
    for (const auto& worker : run.workers) {
        auto& host = hosts[static_cast<std::size_t>(worker.node)];
        const auto share = static_cast<double>(worker.rows) / static_cast<double>(size.rows);
        host.rows += 1.5 * size.bytes * share;
        host.ranks += of_rank;
        if (way != "flat")
            host.kept += kept.contributions / static_cast<double>(run.workers.size());
    }
    hosts[0].ranks += of_rank;
    hosts[0].beside = of_iterates;
    if (way == "flat") {
        hosts[0].kept = kept.contributions + kept.sums + kept.points;
        return hosts;
    }
    for (auto& host : hosts) {
        host.kept += kept.points;
        if (way == "shares")
            host.share =
                vector * (points_of_owner + vectors_of_share / static_cast<double>(hosts.size()));
    }
    // The coordinator then has its share in place of whole vectors.
    if (way == "shares" && !scores) hosts[0].ranks -= vectors_of_a_rank * vector;
    return hosts;
}

// Returns how much memory a run takes, in words. @param host  the one that takes most
std::string words_of(const OfHost& host, std::size_t hosts, const trace::Trace& run,
                     const Size& size)
{
    const auto part = [](double bytes, const char* what) {
        return bytes > 0 ? fmt::format(", {:.2g} GB of {}", bytes / 1e9, what) : std::string();
    };
    const auto iterates = part(host.beside, "iterates");
    const auto kept = part(host.kept, "contributions that are kept");
    if (hosts == 1)
        return fmt::format(
            "memory: {:.3g} copies of {:.3g} GB of data, half as much again, {:.2g} GB a rank{}{}",
            host.rows / 1.5 / size.bytes, size.bytes / 1e9,
            host.ranks / static_cast<double>(run.workers.size() + 1) / 1e9, iterates, kept);
    return fmt::format(
        "memory: {} nodes, each with what the largest takes: {:.3g} GB of data, half as much "
        "again, {:.2g} GB of its ranks{}{}{}; contributions are added up {}",
        hosts, host.rows / 1.5 / 1e9, host.ranks / 1e9, iterates,
        part(host.share, "the owner of a share"), kept, words_of_way(run.text("aggregate")));
}

}  // namespace

Estimate estimate(const Manifest& manifest, const std::string& folder, std::int64_t hosts)
{
    Estimate all;
    std::set<std::string> schemes;
    std::int64_t most = 1;
    for (const auto& row : manifest.rows())
        most = std::max(most, to_integer(row.value("rounds")).value_or(most_rounds));
    for (const auto& row : manifest.rows()) {
        if (!schemes.insert(row.value("scheme")).second) continue;
        const auto size = size_of(row, folder);
        const auto rounds = std::min(most, some_rounds);
        const auto run = simulated(row, size, rounds, hosts);
        const double seconds = run.rounds.empty() ? 0 : run.rounds.back().time;
        all.seconds = std::max(all.seconds,
                               seconds * static_cast<double>(most) / static_cast<double>(rounds));
        if (!size) continue;
        const auto of_hosts = memory_of_hosts(run, *size, row.value("evaluate-every") != "0");
        const auto& largest = *std::ranges::max_element(of_hosts, {}, &OfHost::all);
        const double memory = static_cast<double>(of_hosts.size()) * largest.all();
        if (memory <= all.memory) continue;
        all.memory = memory;
        all.memory_reason = words_of(largest, of_hosts.size(), run, *size);
    }
    return all;
}

}  // namespace quorate
