// SPDX-License-Identifier: BSD-2-Clause
#include "jobs/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "commands/options.hpp"
#include "commands/simulation.hpp"
#include "data/data_set.hpp"
#include "parts/components.hpp"
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
    std::set<std::string> all = {"trace",
                                 "checkpoint",
                                 "checkpoint-every",
                                 "resume",
                                 "log",
                                 "quiet",
                                 "verbose",
                                 "rounds",
                                 "config",
                                 "step",
                                 "momentum",
                                 "evaluate",
                                 "resilient",
                                 "timeout",
                                 "dry",
                                 "memory-checkpoint-every",
                                 "stop-before",
                                 "walltime",
                                 "trace-arrivals",
                                 "overwrite",
                                 "unsaved",
                                 "trace-weights"};
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
// @param size  of its data set; none: it is not there yet
Settings simulation(const ManifestRow& row, const std::optional<Size>& size, std::int64_t rounds)
{
    // What the run does not say is guessed: messages of 20 us and 1 GB/s, and cores that take 2 ns
    // for each entry of a row, or 1 us a row if the data set is not there.
    Options values = {
        {"dry", "on"}, {"rounds", std::to_string(rounds)}, {"trace-arrivals", "none"}};
    const auto add = [&](const std::string& name, const std::string& value) {
        if (row.value(name).empty()) values.emplace(name, value);
    };
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
        if (most > 1000 * to_integer(row.value("workers")).value_or(1))
            add("rows", std::to_string(most));
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

}  // namespace

Estimate estimate(const Manifest& manifest, const std::string& folder)
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
        const auto simulated = [&] {
            try {
                return simulate(simulation(row, size, rounds));
            } catch (const BadInput& wrong) {
                throw BadInput(row.origin + wrong.what());
            }
        }();
        const double seconds = simulated.rounds.empty() ? 0 : simulated.rounds.back().time;
        all.seconds = std::max(all.seconds,
                               seconds * static_cast<double>(most) / static_cast<double>(rounds));
        if (!size) continue;
        double stored = 0;
        for (const auto& worker : simulated.workers) stored += static_cast<double>(worker.rows);
        const double copies = stored / static_cast<double>(size->rows);
        constexpr double of_a_rank = 150e6, of_iterates = 420e6;
        const auto ranks = static_cast<double>(simulated.workers.size()) + 1;
        const double points = 8.0 * static_cast<double>(size->columns);
        std::int64_t most_rows = 0;
        for (const auto& worker : simulated.workers) most_rows = std::max(most_rows, worker.rows);
        const double kept =
            bytes_of_kept(simulated.header.integer.at("kept"), size->columns, most_rows,
                          size->entries_per_row) +
            bytes_of_sums(simulated.header.integer.at("slots"), size->columns) +
            points * static_cast<double>(simulated.header.integer.at("kept_points"));
        const double memory =
            1.5 * copies * size->bytes + ranks * (of_a_rank + 6 * points) + of_iterates + kept;
        if (memory <= all.memory) continue;
        all.memory = memory;
        all.memory_reason = fmt::format(
            "memory: {:.3g} copies of {:.3g} GB of data, half as much again, {:.2g} GB a "
            "rank, {:.2g} GB of iterates{}",
            copies, size->bytes / 1e9, (of_a_rank + 6 * points) / 1e9, of_iterates / 1e9,
            kept > 0 ? fmt::format(", {:.2g} GB of contributions that are kept", kept / 1e9) : "");
    }
    return all;
}

}  // namespace quorate
