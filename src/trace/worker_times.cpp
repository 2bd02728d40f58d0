// SPDX-License-Identifier: BSD-2-Clause
#include "trace/worker_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/error.hpp"
#include "base/median.hpp"
#include "base/text.hpp"
#include "tables/csv.hpp"
#include "tables/source.hpp"

namespace quorate {

namespace {

const std::vector<std::string> worker_names = {"worker", "rank"};
const std::vector<std::string> round_names = {"round", "step", "time"};
const std::vector<std::string> seconds_names = {"seconds", "response_s", "compute_time",
                                                "batch_time_norm"};

struct TimedRow {
    int worker;
    double round;  // or the time, if the file has no rounds
    double seconds;
    std::int64_t line;
};

// Column numbers in the file.
struct Columns {
    std::size_t worker, round, seconds;
    std::optional<std::size_t> load;
    bool by_time;  // whether the column `round` holds times
};

// The rows of the file, run by run.
struct Runs {
    std::vector<std::string> workers;                 // labels; rows refer to them by number
    std::map<double, std::vector<TimedRow>> at_load;  // one run for each load
    bool by_time = false;
};

// Finds the first of these names that the header has.
std::optional<std::size_t> find(const CsvRecords& records, const std::vector<std::string>& names)
{
    for (const auto& name : names) {
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < records.header().size(); ++i) {
            if (trimmed(records.header()[i]) != name) continue;
            if (found) records.refuse(i, "a second column " + name + ": remove or rename one");
            found = i;
        }
        if (found) return found;
    }
    return std::nullopt;
}

Columns columns_of(const CsvRecords& records)
{
    const auto need = [&](const std::string& what, const std::vector<std::string>& names) {
        const auto found = find(records, names);
        if (!found)
            records.refuse(0,
                           fmt::format("no column of {}: name one {}", what, alternatives(names)));
        return *found;
    };
    Columns columns{};
    columns.worker = need("workers", worker_names);
    columns.round = need("rounds", round_names);
    columns.by_time = trimmed(records.header()[columns.round]) == "time";
    columns.seconds = need("times", seconds_names);
    columns.load = find(records, {"load"});
    return columns;
}

double number(const CsvRecords& records, const std::vector<std::string>& fields, std::size_t field,
              double lowest, double highest, const std::string& wanted)
{
    const auto word = trimmed(fields[field]);
    const auto value = to_real(word);
    if (!value || *value < lowest || *value > highest)
        records.refuse(field, fmt::format("{} is {}: give {}", trimmed(records.header()[field]),
                                          word.empty() ? "empty" : word, wanted));
    return *value;
}

Runs read_runs(CsvRecords& records)
{
    constexpr double most = std::numeric_limits<double>::max();
    const auto columns = columns_of(records);
    Runs runs;
    runs.by_time = columns.by_time;
    std::unordered_map<std::string, int> numbers;
    for (std::vector<std::string> fields; records.next(fields);) {
        TimedRow row{};
        auto label = trimmed(fields[columns.worker]);
        if (label.empty()) records.refuse(columns.worker, "the worker is empty: give its number");
        const auto [at, is_new] = numbers.emplace(label, static_cast<int>(numbers.size()));
        if (is_new) runs.workers.push_back(std::move(label));
        row.worker = at->second;
        row.round = number(records, fields, columns.round, -most, most, "a finite number");
        row.seconds =
            number(records, fields, columns.seconds, 0, most, "a finite number of at least 0");
        row.line = records.line();
        const double load = columns.load ? number(records, fields, *columns.load, 0, 1,
                                                  "the share of the training rows, from 0 to 1")
                                         : 0;
        runs.at_load[load].push_back(row);
    }
    if (runs.at_load.empty())
        throw BadInput(records.name() + " holds no rows after its header: give recorded times");
    return runs;
}

// Gives the labels of these rows the numbers 0, 1, ... in ascending order: numbers by value, other
// words by letters.
// @return the labels in that order
std::vector<std::string> number_workers(std::vector<TimedRow>& rows,
                                        const std::vector<std::string>& labels)
{
    std::set<int> seen;
    for (const auto& row : rows) seen.insert(row.worker);
    std::vector<int> present(seen.begin(), seen.end());
    const auto label = [&](int worker) -> const std::string& {
        return labels[static_cast<std::size_t>(worker)];
    };
    const bool numbers = std::ranges::all_of(
        present, [&](int worker) { return to_real(label(worker)).has_value(); });
    std::ranges::sort(present, {}, [&](int worker) {
        return std::pair(numbers ? *to_real(label(worker)) : 0, label(worker));
    });
    std::vector<int> numbered(labels.size());
    std::vector<std::string> ordered;
    for (const auto worker : present) {
        numbered[static_cast<std::size_t>(worker)] = static_cast<int>(ordered.size());
        ordered.push_back(label(worker));
    }
    for (auto& row : rows) row.worker = numbered[static_cast<std::size_t>(row.worker)];
    return ordered;
}

// Rows sorted by worker, then by round or time -> the table, for rows with rounds.
void fill_by_round(const std::vector<TimedRow>& rows, const std::vector<std::string>& labels,
                   const std::string& name, const std::string& run, WorkerTimes& times)
{
    std::set<double> rounds;
    for (const auto& row : rows) rounds.insert(row.round);
    times.rounds = static_cast<std::int64_t>(rounds.size());

    // The table grows row by row, and the first time that is missing ends it. So a file of many
    // distinct words does not cost the memory of a table of all workers and rounds.
    auto at = rows.begin();
    for (int worker = 0; worker < times.workers; ++worker)
        for (const double round : rounds) {
            if (at == rows.end() || at->worker != worker || at->round != round)
                throw BadInput(fmt::format(
                    "{} holds no time of worker {} in round {}{}: give each worker's time in each "
                    "round",
                    name, labels[static_cast<std::size_t>(worker)], round, run));
            const auto& row = *at++;
            times.seconds.push_back(row.seconds);
            if (at != rows.end() && at->worker == worker && at->round == round)
                throw BadInput(fmt::format(
                    "{}:{}: a second time of worker {} in round {}{}, after line {}: give one",
                    name, at->line, labels[static_cast<std::size_t>(worker)], round, run,
                    row.line));
        }
}

void fill_by_time(const std::vector<TimedRow>& rows, WorkerTimes& times)
{
    std::vector<std::int64_t> counts(static_cast<std::size_t>(times.workers));
    for (const auto& row : rows) ++counts[static_cast<std::size_t>(row.worker)];
    times.rounds = std::ranges::min(counts);
    auto first = rows.begin();
    for (const auto count : counts) {
        for (std::int64_t i = 0; i < times.rounds; ++i) times.seconds.push_back(first[i].seconds);
        first += count;
    }
}

double slope_of_medians(const std::map<double, std::vector<TimedRow>>& at_load)
{
    std::vector<std::pair<double, double>> points;
    double mean_load = 0, mean_seconds = 0;
    for (const auto& [load, rows] : at_load) {
        std::vector<double> seconds;
        for (const auto& row : rows) seconds.push_back(row.seconds);
        points.emplace_back(load, median(std::move(seconds)));
        mean_load += load / static_cast<double>(at_load.size());
        mean_seconds += points.back().second / static_cast<double>(at_load.size());
    }
    double product = 0, square = 0;
    for (const auto& [load, seconds] : points) {
        product += (load - mean_load) * (seconds - mean_seconds);
        square += (load - mean_load) * (load - mean_load);
    }
    return square > 0 ? product / square : 0;
}

}  // namespace

WorkerTimes read_worker_times(const std::string& path)
{
    const Reading reading;
    CsvRecords records(TextBlocks(path, reading, true).rest(), path);
    auto runs = read_runs(records);
    WorkerTimes times;
    times.load = runs.at_load.begin()->first;
    times.slope = slope_of_medians(runs.at_load);

    auto& rows = runs.at_load.begin()->second;
    const auto labels = number_workers(rows, runs.workers);
    times.workers = static_cast<int>(labels.size());
    std::ranges::stable_sort(rows, {},
                             [](const TimedRow& row) { return std::pair(row.worker, row.round); });
    if (runs.by_time)
        fill_by_time(rows, times);
    else
        fill_by_round(rows, labels, path,
                      runs.at_load.size() > 1 ? fmt::format(" at load {}", times.load) : "", times);
    return times;
}

}  // namespace quorate
