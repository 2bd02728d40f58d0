// SPDX-License-Identifier: BSD-2-Clause
// quorate inspect: check and summarise a trace or a data set.
#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/shown.hpp"
#include "base/text.hpp"
#include "base/wire.hpp"
#include "cli/check_report.hpp"
#include "cli/coefficients.hpp"
#include "cli/command.hpp"
#include "cli/named_columns.hpp"
#include "cli/trace_report.hpp"
#include "commands/distance.hpp"
#include "commands/throughput.hpp"
#include "data/data_set.hpp"
#include "optimum/optimum_cache.hpp"
#include "run/output.hpp"
#include "run/recorded.hpp"
#include "run/same_data.hpp"
#include "trace/reader.hpp"

namespace quorate {

namespace {

using Json = nlohmann::ordered_json;

template <class Row>
Json row_as_json(const Row& row)
{
    Json json;
    trace::for_columns<Row>([&](const auto& column) {
        if constexpr (std::is_same_v<std::decay_t<decltype(row.*column.field)>, double>)
            json[column.name] = json_number<Json>(row.*column.field);
        else
            json[column.name] = row.*column.field;
    });
    return json;
}

// Adds how far the objective of the last scored model is above the reference optimum, and which
// model was the first within 1e-1, ..., 1e-6 of it. Adds nothing if no optimum is known, or if only
// some rows were scored.
void add_gap(Json& json, const trace::Trace& trace, const std::string& data)
{
    const auto optimum =
        known_optimum(data, std::stoll(trace.attributes.at("rows")), trace.text(data_attribute),
                      {trace.attributes.at("model"), std::stod(trace.attributes.at("l2")),
                       std::stod(trace.attributes.at("l1"))});
    const auto scored = trace.text("scored_rows");
    const bool all_rows = scored.empty() || scored == trace.text("rows");
    if (!optimum || trace.evaluations.empty() || !all_rows) return;
    json["optimum"] = {{"objective", optimum->objective},
                       {"bound", optimum->bound},
                       {"gradient_norm", json_number<Json>(optimum->gradient_norm)},
                       {"last_gap", trace.evaluations.back().objective - optimum->objective}};
    Json reached;
    for (int digits = 1; digits <= 6; ++digits) {
        const auto at = std::ranges::find_if(trace.evaluations, [&](const auto& row) {
            return row.objective - optimum->objective <= std::pow(10.0, -digits);
        });
        reached[fmt::format("1e-{}", digits)] =
            at == trace.evaluations.end() ? Json(nullptr)
                                          : Json{{"round", at->round}, {"time", at->time}};
    }
    json["gap_reached"] = reached;
}

// Adds the rounds that are in no other table, because the run went back to a checkpoint.
void add_lost(Json& json, const trace::Trace& trace)
{
    std::size_t rounds = 0;
    auto all = Json::array();
    for (const auto& one : trace.lost) {
        rounds += one.rounds.size();
        all.push_back({{"first_round", one.first},
                       {"last_round", one.last},
                       {"seconds", one.seconds},
                       {"why", one.why}});
    }
    json["rounds_lost"] = rounds;
    if (rounds > 0) json["lost"] = all;
}

// Returns the path of the run's data set, as the trace records it.
std::string data_of(const trace::Trace& trace)
{
    return recorded_options(trace.attributes.at("config"))["data"];
}

// Adds how stale gradients were at most, and how far from the points that they were added to.
void add_oldest(Json& json, const trace::Trace& trace)
{
    std::int64_t stalest = 0;
    for (const auto& round : trace.rounds) stalest = std::max(stalest, round.staleness_max);
    json["staleness_max"] = stalest;
    if (const auto distance = distance_of(trace)) {
        json["distance"] = distance->largest;
        if (distance->bound) json["distance_bound"] = *distance->bound;
    }
}

// Adds how often workers left, died and came, and what followed from it.
void add_changes(Json& json, const trace::Trace& trace)
{
    const auto changes = [&](trace::Change kind) {
        return std::ranges::count_if(trace.membership, [&](const auto& row) {
            return row.event > 0 && row.kind == static_cast<std::int64_t>(kind);
        });
    };
    json["workers_left"] = changes(trace::Change::left);
    json["workers_died"] = changes(trace::Change::died);
    json["workers_joined"] = changes(trace::Change::joined);
    json["reencoded"] = changes(trace::Change::reencoded);
    json["resumed_with_others"] = changes(trace::Change::resumed);
}

Json describe(const trace::Trace& trace, const std::string& data)
{
    Json json;
    json["kind"] = "trace";
    for (const auto& [name, value] : trace.attributes) json[name] = value;
    for (const auto* name : {"seed", "workers", "rows", "test_rows", "columns", "rounds"})
        if (json.contains(name)) json[name] = std::stoll(trace.attributes.at(name));
    if (json.contains("l2")) json["l2"] = std::stod(trace.attributes.at("l2"));
    const auto rounds = trace.rounds.size();
    const auto sum = [&](auto field) {
        return std::accumulate(trace.rounds.begin(), trace.rounds.end(), 0.0,
                               [&](double total, const auto& round) {
                                   return total + static_cast<double>(round.*field);
                               });
    };
    const double time = rounds ? trace.rounds.back().time : 0;
    const double count = static_cast<double>(std::max<std::size_t>(rounds, 1));
    json["rounds_done"] = rounds;
    json["time"] = time;
    json["time_per_round"] = time / count;
    json["wait_per_round"] = sum(&trace::Round::wait) / count;
    json["used_per_round"] = sum(&trace::Round::used) / count;
    json["decode_error_mean"] = sum(&trace::Round::decode_error) / count;
    json["staleness_mean"] = sum(&trace::Round::staleness_mean) / count;
    add_oldest(json, trace);
    json["bytes_sent_per_round"] = sum(&trace::Round::bytes_sent) / count;
    json["bytes_received_per_round"] = sum(&trace::Round::bytes_received) / count;
    if (const auto speed = throughput_of(trace)) {
        json["samples_per_second"] = speed->used;
        if (speed->answered) {
            json["samples_answered_per_second"] = *speed->answered;
            json["computing_share"] = *speed->computing;
            json["delay_share"] = *speed->delay;
        }
    }
    std::int64_t touched = 0;
    for (const auto& worker : trace.workers) touched += worker.columns_touched;
    // What one round sends in one direction, if each worker's message has its support. Dense
    // vectors would take as many bytes for each of p elements and each worker instead.
    const auto number = static_cast<std::int64_t>(bytes_of(wire_named(trace.text("wire"))));
    json["bytes_of_supports_one_way"] = number * touched;
    json["arrivals"] = trace.arrivals.size();
    json["arrivals_used"] = std::count_if(trace.arrivals.begin(), trace.arrivals.end(),
                                          [](const auto& arrival) { return arrival.used != 0; });
    add_changes(json, trace);
    add_lost(json, trace);
    json["iterates"] = trace.iterates;
    json["evaluations"] = trace.evaluations.size();
    if (!trace.evaluations.empty()) json["last_evaluation"] = row_as_json(trace.evaluations.back());
    if (!trace.attributes.at("model").empty())
        add_gap(json, trace, data.empty() ? data_of(trace) : data);
    json["faults"] = trace::faults(trace);
    return json;
}

Json describe(const DataSet& data)
{
    Json json;
    json["kind"] = "data set";
    for (const auto& [name, value] : data.attributes()) json[name] = value;
    json["columns"] = data.columns();
    json["dense"] = data.dense();
    json["ones"] = data.ones();
    for (const auto split : {Split::train, Split::test}) {
        const std::string name = split == Split::train ? "train" : "test";
        const auto rows = data.rows(split);
        std::int64_t positive = 0;
        constexpr std::int64_t block = 1 << 14;
        for (std::int64_t first = 0; first < rows; first += block) {  // reading checks them
            const auto raw = data.read(split, first, std::min(block, rows - first));
            positive += std::ranges::count_if(raw.label, [](double y) { return y > 0; });
        }
        json[name + "_rows"] = rows;
        json[name + "_entries"] = data.entries(split);
        if (data.shape().task == LearningTask::binary) json[name + "_positive"] = positive;
    }
    return json;
}

// How many coefficients to list; nothing if none are asked for.
std::optional<std::size_t> coefficients_wanted(const Settings& settings)
{
    if (!settings.on("coefficients")) return {};
    const auto& text = settings.text("coefficients");
    if (text == "all") return std::numeric_limits<std::size_t>::max();
    const auto number = to_integer(text);
    if (!number || *number < 1)
        settings.refuse("coefficients", ": give how many, from 1 on, or all");
    return static_cast<std::size_t>(*number);
}

void print(const Json& json)
{
    for (const auto& [name, value] : json.items()) {
        if (name == "faults") continue;
        if (value.is_object()) {
            fmt::print("{}\n", harmless(name));
            for (const auto& [inner, one] : value.items())
                fmt::print("  {:<26} {}\n", inner, json_text(one, -1));
            continue;
        }
        auto text = value.is_string() ? value.get<std::string>() : json_text(value, -1);
        while (!text.empty() && text.back() == '\n') text.pop_back();
        boost::replace_all(text, "\n", "\n" + std::string(29, ' '));
        fmt::print("{}", harmless(fmt::format("{:<28} {}\n", name, text)));
    }
}

int inspect(const Settings& settings)
{
    const auto& path = settings.text("FILE");
    const auto format = format_of(path);
    const auto wanted = coefficients_wanted(settings);
    constexpr std::size_t usual = 20, unlimited = std::numeric_limits<std::size_t>::max();
    Json json;
    std::string report;   // of a trace, in short
    std::string columns;  // of a data set
    std::optional<EstimateCheck> check;
    if (settings.given("check-rounds") && !settings.on("check"))
        settings.refuse("check-rounds", ", but no estimates are checked: add --check DATA");
    if (format == "quorate trace") {
        const auto trace = trace::read(path);
        json = describe(trace, settings.text("data"));
        report = trace_report(trace, path, json);
        if (settings.on("check")) {
            check = check_as_asked(settings, trace, path);
            json["check"] = as_json(*check);
        }
        if (wanted) json["model_coefficients"] = coefficients(path, settings.text("data"), *wanted);
    } else if (format == "quorate data set") {
        for (const auto* name : {"coefficients", "check"})
            if (settings.on(name))
                settings.refuse(
                    name, fmt::format(", but {} is a data set: give the trace of a run", path));
        const DataSet data(path, Unlabelled::accepted);
        json = describe(data);
        const auto named = named_columns(data);
        if (settings.on("json") && !named.empty())
            json["named_columns"] = as_json(named, settings.on("all") ? unlimited : usual);
        else
            columns = lines_of(named, settings.on("all"));
    } else
        throw BadInput(path + " is neither a trace nor a data set: give a file that quorate wrote");
    if (settings.on("json"))
        fmt::print("{}\n", json_text(json));
    else if (check && !settings.on("all"))
        fmt::print("{}", harmless(lines_of(*check, path)));
    else if (wanted)
        fmt::print("{}", harmless(coefficient_lines(json["model_coefficients"])));
    else if (!report.empty() && !settings.on("all"))
        fmt::print("{}", harmless(report));
    else
        print(json);
    if (!columns.empty()) fmt::print("columns by name\n{}", harmless(columns));
    std::vector<std::string> wrong;
    if (json.contains("faults")) wrong = json["faults"].get<std::vector<std::string>>();
    if (check)
        for (auto& line : disagreements(*check)) wrong.push_back(std::move(line));
    for (const auto& line : wrong) log(LogLevel::error, fmt::format("{}: {}", path, line));
    return wrong.empty() ? exit_done : exit_failed;
}

}  // namespace

Command inspect_command()
{
    std::vector<Option> options = {
        {"all", "", "",
         "of a trace: every number and attribute, and not what matters most; of a "
         "data set: every "
         "column and level"},
        {"coefficients", "N|all", "",
         "of a trace: the N largest coefficients of its final model by the names "
         "of columns, and "
         "the intercept; of linear models"},
        {"json", "", "", "all of it as JSON"},
        {"data", "FILE", "",
         "of a trace: data set whose reference optimum, or names of columns, are "
         "shown; default: "
         "the run's"}};
    add_options(options, check_options());
    return {.name = "inspect",
            .text = "check and summarise a trace or a data set",
            .operand = "FILE",
            .options = options,
            .run = inspect,
            .examples = {"quorate inspect frc.h5", "quorate inspect data.h5"}};
}

}  // namespace quorate
